import HeadroomJSON
import HeadroomModel
import Synchronization

/// The certificate that the server shows. A new one is for new connections; open ones, long polls among them, go on.
package final class ServedCertificate: Sendable {
    /// What a look at the files came to.
    package enum Change: Equatable, Sendable {
        case notRead
        case same
        case replaced
        /// The files hold no pair that can be served; the one before goes on.
        case refused(String)
    }

    private struct State {
        var current: GnuTLSCertificate
        /// No longer shown; a handshake may still use them. With the time of their end, on the monotonic clock.
        var replaced: [(certificate: GnuTLSCertificate, at: Int64)] = []
        /// The files when they were last read.
        var readStamp: [Int]
        /// The files at the last look, if that was not the same.
        var seenStamp: [Int]?
    }

    private let files: CertificateFiles
    private let state: Mutex<State>

    /// Connections are cut long before, when their handshake takes longer than the headers of a request may.
    private static let keptMilliseconds: Int64 = 600_000

    package init(_ files: CertificateFiles) throws(HTTPError) {
        self.files = files
        let stamp = files.stamp
        state = Mutex(State(current: try files.load(), readStamp: stamp))
    }

    package var ends: Timestamp { current.ends }

    /// Faults that do not keep the certificate from being served.
    package func warnings(at now: Timestamp) -> [String] {
        var warnings: [String] = []
        if let reason = Self.objection(to: current, at: now, files) { warnings.append(reason) }
        if files.isKeyOpen { warnings.append("\(files.key): everybody on this machine may read the key") }
        return warnings
    }

    var current: GnuTLSCertificate { state.withLock { $0.current } }

    /// Reads the files when they have changed. Certificate and key are two files, so a change has to have stood still
    /// from one look to the next.
    package func follow(at now: Timestamp) -> Change {
        let stamp = files.stamp
        let isDue = state.withLock { state in
            guard stamp != state.readStamp else {
                state.seenStamp = nil
                return false
            }
            defer { state.seenStamp = stamp }
            return state.seenStamp == stamp
        }
        return isDue ? reload(at: now) : .notRead
    }

    /// Reads the files as they are.
    package func reload(at now: Timestamp) -> Change {
        let stamp = files.stamp
        let result: Result<GnuTLSCertificate, HTTPError>
        do throws(HTTPError) { result = .success(try files.load()) } catch { result = .failure(error) }
        return state.withLock { state in
            state.readStamp = stamp
            state.seenStamp = nil
            switch result {
            case .failure(let error): return .refused(error.message)
            case .success(let new):
                guard new.encoded != state.current.encoded else { return .same }
                if let reason = Self.objection(to: new, at: now, files),
                    Self.objection(to: state.current, at: now, files) == nil
                {
                    return .refused(reason)
                }
                let clock = MonotonicClock.milliseconds()
                state.replaced.removeAll { clock - $0.at > Self.keptMilliseconds }
                state.replaced.append((state.current, clock))
                state.current = new
                return .replaced
            }
        }
    }

    /// Why clients will refuse the certificate, as far as its times say.
    private static func objection(
        to certificate: GnuTLSCertificate, at now: Timestamp, _ files: CertificateFiles
    ) -> String? {
        if certificate.ends <= now {
            let end = RFC3339.format(milliseconds: certificate.ends.milliseconds)
            return "\(files.certificate): the certificate has ended at \(end)"
        }
        if now < certificate.begins {
            let begin = RFC3339.format(milliseconds: certificate.begins.milliseconds)
            return "\(files.certificate): the certificate begins only at \(begin)"
        }
        return nil
    }
}
