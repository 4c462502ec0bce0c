import Foundation
import HeadroomModel
import HeadroomPolicy
import Testing

@Suite struct PolicyWatcherTests {
    @Test func `a good change is in force at the next look, an unchanged file is not read again`() throws {
        let folder = try Folder()
        try folder.write("rules.json5", "{}")
        try folder.write("pools/a.json5", "{pool: 'a', nominal: {rpm: 1}}")
        var watcher = try PolicyWatcher(directory: PolicyDirectory(path: folder.path + "/"))
        #expect(watcher.policy.starvation.seconds == 300)
        #expect(watcher.reloadIfChanged() == .unchanged)
        try folder.write("rules.json5", "{starvation: {seconds: 10}}")
        let reload = watcher.reloadIfChanged()
        #expect(reload == .changed(watcher.policy))
        #expect(watcher.policy.starvation.seconds == 10)
        try folder.write("pools/b.json5", "{pool: 'b', nominal: {rpm: 1}}")
        _ = watcher.reloadIfChanged()
        #expect(watcher.policy.pools.map(\.pool) == ["a", "b"])
        #expect(watcher.failure == nil)
    }

    @Test func `a pool whose file is removed stays in force and is reported, until a person takes the removal`() throws
    {
        let folder = try Folder()
        try folder.write("rules.json5", "{}")
        for name in ["a", "b"] { try folder.write("pools/\(name).json5", "{pool: '\(name)', nominal: {rpm: 1}}") }
        var watcher = try PolicyWatcher(directory: PolicyDirectory(path: folder.path))
        try folder.remove("pools/b.json5")
        guard case .refused(let error) = watcher.reloadIfChanged() else {
            Issue.record("the removal was swallowed")
            return
        }
        #expect(error.faults.map(\.file) == [folder.path + "/pools/b.json5"])
        #expect(watcher.failure?.description.contains("is gone, with pool b") == true)
        // However often it looks, and whatever else changes.
        try folder.write("rules.json5", "{starvation: {seconds: 10}}")
        #expect(watcher.reloadIfChanged() == .unchanged)
        #expect(watcher.policy.pools.map(\.pool) == ["a", "b"] && watcher.policy.starvation.seconds == 300)

        #expect(watcher.reload() == .changed(watcher.policy))
        #expect(watcher.policy.pools.map(\.pool) == ["a"] && watcher.policy.starvation.seconds == 10)
        #expect(watcher.failure == nil && watcher.reloadIfChanged() == .unchanged)
    }

    @Test func `a removed file that comes back mends it, and one that only gets another name takes nothing away`()
        throws
    {
        let folder = try Folder()
        try folder.write("rules.json5", "{}")
        for name in ["a", "b"] { try folder.write("pools/\(name).json5", "{pool: '\(name)', nominal: {rpm: 1}}") }
        var watcher = try PolicyWatcher(directory: PolicyDirectory(path: folder.path))
        try folder.remove("pools/b.json5")
        _ = watcher.reloadIfChanged()
        #expect(watcher.failure != nil)
        try folder.write("pools/b.json5", "{pool: 'b', nominal: {rpm: 1}}")
        #expect(watcher.reloadIfChanged() == .changed(watcher.policy))
        #expect(watcher.failure == nil)

        try FileManager.default.moveItem(
            atPath: folder.path + "/pools/b.json5", toPath: folder.path + "/pools/c.json5")
        _ = watcher.reloadIfChanged()
        #expect(watcher.failure == nil)
        #expect(watcher.policy.pools.map(\.pool) == ["a", "b"])
    }

    @Test func `permissions that change are looked at, though size and time stay`() throws {
        let folder = try Folder()
        try folder.write("rules.json5", "{}")
        try folder.write("pools/a.json5", "{pool: 'a', nominal: {rpm: 1}}")
        let watcher = try PolicyWatcher(directory: PolicyDirectory(path: folder.path))
        let before = try watcher.directory.marks()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o000], ofItemAtPath: folder.path + "/pools/a.json5")
        #expect(try watcher.directory.marks() != before)
        // The superuser may read everything.
        guard geteuid() != 0 else { return }
        var ordinary = watcher
        guard case .refused(let error) = ordinary.reloadIfChanged() else {
            Issue.record("the unreadable file was swallowed")
            return
        }
        #expect(error.faults.map(\.code) == [.unreadable])
    }

    @Test func `a change with a fault leaves the old policy, is told once and kept until it is mended`() throws {
        let folder = try Folder()
        try folder.write("rules.json5", "{name: 'first'}")
        try folder.write("pools/a.json5", "{pool: 'a', nominal: {rpm: 1}}")
        var watcher = try PolicyWatcher(directory: PolicyDirectory(path: folder.path))
        let first = watcher.policy
        for fault in ["{name: 'second', loop: {period: 1}}", "{", ""] {
            try folder.write("rules.json5", fault)
            guard case .refused(let error) = watcher.reloadIfChanged() else {
                Issue.record("\(fault) was taken")
                continue
            }
            #expect(error.description.hasPrefix("\(folder.path)/rules.json5:1:"))
            #expect(watcher.failure == error)
            #expect(watcher.policy == first)
            #expect(watcher.reloadIfChanged() == .unchanged)
            #expect(watcher.failure == error)
        }
        try folder.write("rules.json5", "{name: 'third'}")
        _ = watcher.reloadIfChanged()
        #expect(watcher.policy.name == "third")
        #expect(watcher.failure == nil)
    }

    @Test func `a directory that vanishes is reported, and taken again as soon as it is back`() throws {
        let folder = try Folder()
        try folder.write("rules.json5", "{}")
        try folder.write("pools/a.json5", "{pool: 'a', nominal: {rpm: 1}}")
        var watcher = try PolicyWatcher(directory: PolicyDirectory(path: folder.path))
        try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + ".away")
        guard case .refused(let error) = watcher.reloadIfChanged() else {
            Issue.record("nothing was noticed")
            return
        }
        #expect(error.faults.map(\.code) == [.unreadable])
        #expect(watcher.reloadIfChanged() == .unchanged)
        try FileManager.default.moveItem(atPath: folder.path + ".away", toPath: folder.path)
        #expect(watcher.reloadIfChanged() == .changed(watcher.policy))
        #expect(watcher.failure == nil)
    }

    @Test func `what is no policy file is left alone, what cannot be one is refused`() throws {
        let folder = try Folder()
        try folder.write("rules.json5", "{}")
        try folder.write("pools/a.json5", "{pool: 'a', nominal: {rpm: 1}}")
        try folder.write(".#rules.json5", "{{{")
        try folder.write("README.md", "hello")
        #expect(try PolicyDirectory(path: folder.path).load().pools.count == 1)
        try FileManager.default.createDirectory(
            atPath: folder.path + "/pools/b.json5", withIntermediateDirectories: false)
        #expect(
            throws: PolicyError([PolicyFault(.unreadable, file: folder.path + "/pools/b.json5", "is no regular file")])
        ) {
            try PolicyDirectory(path: folder.path).load()
        }
    }

    @Test func `a directory that is not there is named, with what it should hold`() {
        do throws(PolicyError) {
            _ = try PolicyDirectory(path: "/nowhere/policies").load()
            Issue.record("it was read")
        } catch {
            #expect(
                error.description
                    == "/nowhere/policies: cannot be read: No such file or directory "
                    + "(a directory with rules.json5 and pools/)"
            )
        }
    }
}

/// A temporary directory, gone with the test.
private final class Folder {
    let path = NSTemporaryDirectory() + "headroom-policy-" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(atPath: path + "/pools", withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// By a new file put in place of the old one, as editors do: the inode differs however coarse the file times are.
    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"), options: .atomic)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }
}
