import Foundation
import HeadroomModel
import Synchronization

/// Answers to be used again: for the same question, and for one that is as good as the same.
///
/// Each tenant has its own, unless policies put tenants into one group. It is bounded in bytes and in answers: the oldest
/// make room, but for those that were used since they were last in question. With a directory, answers outlive the
/// process.
public final class AnswerCache: Sendable {
    public struct Settings: Sendable {
        /// Of tenants without a policy of their own; `nil`: their answers are not kept.
        public var policy: CachePolicy?
        public var policies: [TenantID: CachePolicy] = [:]
        /// Of questions, answers and vectors together.
        public var maxBytes = 512 << 20
        public var maxAnswers = 100_000

        public init(policy: CachePolicy? = CachePolicy()) {
            self.policy = policy
        }
    }

    /// Whose answers of which model.
    struct Owner: Hashable {
        let name: String
        let model: String
    }

    private struct Space: Hashable {
        let owner: Owner
        let dimensions: Int
    }

    private struct Question: Hashable {
        let owner: Owner
        let work: Call.WorkKind
        let text: String
    }

    private struct Entry {
        var record: CacheRecord
        var bytes: Int
        var dimensions: Int?
        /// Since it was last in question.
        var isUsed = false
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var exact: [Question: Int] = [:]
        var spaces: [Space: VectorIndex] = [:]
        /// Oldest first; some have gone.
        var order: [Int] = []
        var orderStart = 0
        var nextID = 0
        var bytes = 0
        var file: CacheFile?
    }

    /// Longer questions and answers are not kept.
    public static let maxTextBytes = 1 << 20
    private static let maxDimensions = 4096
    private static let bytesEach = 200

    private let settings: Settings
    private let time: TimeSource
    private let state: Mutex<State>

    /// - Parameter directory: where answers are kept; `nil`: in memory only. Throws what the file system says.
    public convenience init(_ settings: Settings, directory: URL? = nil) throws {
        try self.init(
            settings, directory: directory,
            time: .anchored(atMillisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000)))
    }

    package init(_ settings: Settings, directory: URL? = nil, time: TimeSource) throws {
        self.settings = settings
        self.time = time
        var state = State()
        if let directory {
            let (file, records) = try CacheFile.open(directory)
            for record in records { Self.add(record, &state, settings) }
            state.file = file
            Self.compact(&state)
        }
        self.state = Mutex(state)
    }

    /// How many answers there are, and what they take.
    public var size: (answers: Int, bytes: Int) { state.withLock { ($0.entries.count, $0.bytes) } }

    /// The answer to the same question, else to the one that is most alike.
    public func answer(to question: CacheQuestion) -> CachedAnswer? {
        guard let policy = policy(of: question) else { return nil }
        let owner = Self.owner(of: question, policy)
        let now = time.now()
        let oldest = now.milliseconds - Int64(max(0, min(policy.timeToLive.inSeconds, 1e10)) * 1000)
        let vector = question.vector.flatMap { VectorIndex.normalized($0) }
        return state.withLock { state in
            var found: (id: Int, similarity: Float, isExact: Bool)?
            let asked = Question(owner: owner, work: question.work, text: question.text)
            if let id = state.exact[asked], let entry = state.entries[id] {
                if entry.record.at > oldest {
                    found = (id, 1, true)
                } else {
                    Self.remove(id, &state)
                }
            }
            if found == nil, let vector, policy.similarity < 1 {
                let match = state.spaces[Space(owner: owner, dimensions: vector.count)]?.nearest(
                    to: vector, atLeast: Float(policy.similarity)
                ) { id in
                    guard let record = state.entries[id]?.record else { return false }
                    return record.at > oldest && record.work == question.work
                }
                if let match { found = (match.id, match.similarity, false) }
            }
            guard let found, let record = state.entries[found.id]?.record else { return nil }
            state.entries[found.id]?.isUsed = true
            return CachedAnswer(
                body: record.answer, similarity: Double(min(1, found.similarity)), isExact: found.isExact,
                age: .milliseconds(now.milliseconds - record.at), inputTokens: record.inputTokens,
                outputTokens: record.outputTokens)
        }
    }

    /// Keeps an answer; one to the same question is replaced.
    /// - Returns: whether it is kept: policies, and the size of one answer, may forbid it.
    @discardableResult
    public func keep(
        _ answer: [UInt8], to question: CacheQuestion, inputTokens: Int = 0, outputTokens: Int = 0
    ) -> Bool {
        guard let policy = policy(of: question), answer.count + question.text.utf8.count <= Self.maxTextBytes,
            question.vector.map({ $0.count <= Self.maxDimensions }) ?? true
        else { return false }
        let record = CacheRecord(
            at: time.now().milliseconds, owner: Self.owner(of: question, policy), work: question.work,
            text: question.text, answer: answer, inputTokens: max(0, inputTokens), outputTokens: max(0, outputTokens),
            vector: question.vector.flatMap { VectorIndex.normalized($0) })
        return state.withLock { state in
            guard Self.add(record, &state, settings) else { return false }
            state.file?.append(record)
            if let file = state.file, file.bytes > 2 * state.bytes + (1 << 20) { Self.compact(&state) }
            return true
        }
    }

    /// Forgets what the tenant alone has, on disk as well. What a group shares stays.
    public func erase(_ tenant: TenantID) {
        state.withLock { state in
            let ids = state.entries.filter { $0.value.record.owner.name == "tenant " + tenant.text }.keys
            for id in ids { Self.remove(id, &state) }
            Self.compact(&state)
        }
    }

    private func policy(of question: CacheQuestion) -> CachePolicy? {
        guard let policy = settings.policies[question.tenant] ?? settings.policy,
            policy.work.contains(question.work)
        else { return nil }
        return policy
    }

    private static func owner(of question: CacheQuestion, _ policy: CachePolicy) -> Owner {
        Owner(name: policy.group.map { "group " + $0 } ?? "tenant " + question.tenant.text, model: question.model)
    }

    // MARK: Entries

    @discardableResult
    private static func add(_ record: CacheRecord, _ state: inout State, _ settings: Settings) -> Bool {
        let dimensions = record.vector?.count
        let bytes =
            bytesEach + 2 * record.text.utf8.count + record.answer.count
            + (dimensions.map { VectorIndex.bytes(dimensions: $0) } ?? 0)
        guard bytes <= settings.maxBytes, settings.maxAnswers > 0 else { return false }
        let question = Question(owner: record.owner, work: record.work, text: record.text)
        if let known = state.exact[question] { remove(known, &state) }
        while state.entries.count >= settings.maxAnswers || state.bytes + bytes > settings.maxBytes {
            removeOldest(&state)
        }
        state.nextID += 1
        let id = state.nextID
        state.exact[question] = id
        if let vector = record.vector {
            state.spaces[
                Space(owner: record.owner, dimensions: vector.count), default: VectorIndex(dimensions: vector.count)
            ].add(vector, id: id)
        }
        var kept = record
        // The index has it.
        kept.vector = nil
        state.entries[id] = Entry(record: kept, bytes: bytes, dimensions: dimensions)
        state.order.append(id)
        state.bytes += bytes
        return true
    }

    /// The oldest that was not used since it was last in question.
    private static func removeOldest(_ state: inout State) {
        while state.orderStart < state.order.count {
            let id = state.order[state.orderStart]
            state.orderStart += 1
            if state.orderStart > 1024, state.orderStart * 2 > state.order.count {
                state.order.removeFirst(state.orderStart)
                state.orderStart = 0
            }
            guard let entry = state.entries[id] else { continue }
            if !entry.isUsed { return remove(id, &state) }
            state.entries[id]?.isUsed = false
            state.order.append(id)
        }
    }

    private static func remove(_ id: Int, _ state: inout State) {
        guard let entry = state.entries.removeValue(forKey: id) else { return }
        let record = entry.record
        state.exact[Question(owner: record.owner, work: record.work, text: record.text)] = nil
        if let dimensions = entry.dimensions {
            let space = Space(owner: record.owner, dimensions: dimensions)
            state.spaces[space]?.remove(id)
            if state.spaces[space]?.count == 0 { state.spaces[space] = nil }
        }
        state.bytes -= entry.bytes
    }

    /// Writes what there is into a new file.
    private static func compact(_ state: inout State) {
        guard state.file != nil else { return }
        let records = state.order[state.orderStart...].compactMap { id -> CacheRecord? in
            guard let entry = state.entries[id] else { return nil }
            var record = entry.record
            record.vector = entry.dimensions.flatMap {
                state.spaces[Space(owner: record.owner, dimensions: $0)]?.vector(of: id)
            }
            return record
        }
        state.file?.rewrite(records)
    }
}
