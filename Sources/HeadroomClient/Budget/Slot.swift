import HeadroomModel
import Synchronization

/// A call's turn: send the call, and say how it ended.
///
/// A slot that is dropped without ``finish(_:)`` counts as a call that was sent and cost what was estimated.
public final class Slot: Sendable {
    /// Where to send the call: the pool that was asked for, or one of its fail-over list while that one is broken.
    public var pool: PoolID { turn.budget.pool }
    /// How long the call waited for its turn.
    public var waited: Duration { .milliseconds(turn.waitedMilliseconds) }
    /// Tokens that the call is expected to cost.
    public var estimatedTokens: Int { turn.estimatedTokens }
    /// 1 for the first.
    public var attempt: Int { turn.attempt }

    private enum State: Int, AtomicRepresentable { case open, mayGoAgain, ended }

    private let turn: PoolBudget.Turn
    private let state = Atomic(State.open)

    init(_ turn: PoolBudget.Turn) {
        self.turn = turn
    }

    deinit {
        switch state.load(ordering: .acquiring) {
        case .open: turn.budget.abandon(turn.id)
        case .mayGoAgain: turn.budget.withdraw(turn.id)
        case .ended: break
        }
    }

    /// Settles the call: what it really cost replaces the estimate, and what the provider said bounds the pool from now
    /// on. Of this and ``giveBack()`` only the first counts.
    @discardableResult
    public func finish(_ end: CallEnd) -> Advice {
        guard move(from: .open, to: .ended) else { return Advice(kind: .ok, retry: .never) }
        let advice = turn.budget.finish(turn.id, end)
        if advice.retry != .never { state.store(.mayGoAgain, ordering: .releasing) }
        return advice
    }

    /// The call was never sent: everything that the slot holds is free again.
    public func giveBack() {
        if move(from: .open, to: .ended) { turn.budget.withdraw(turn.id) }
    }

    /// The next turn of a call whose ``finish(_:)`` advised another attempt. It keeps its place at the head of its queue;
    /// while the pool is broken, the first of its fail-over list that is not takes it.
    ///
    /// Cancelling the task gives the place up.
    public func again() async throws(Refusal) -> Slot {
        guard move(from: .mayGoAgain, to: .ended) else {
            throw Refusal(
                .fail, "the call has no place in the queue: only finish(_:) that advises another attempt keeps it")
        }
        return Slot(try await PoolBudget.follow(await turn.budget.wait(for: turn.id)))
    }

    private func move(from old: State, to new: State) -> Bool {
        state.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
    }
}
