/// A binary heap: the least element at hand, one in or out in logarithmic time.
///
/// Elements that compare equal leave in no stated order; every use here ends its order with something unique.
public struct Heap<Element: Comparable> {
    public private(set) var elements: [Element] = []

    public init() {}

    /// In linear time.
    public init(_ elements: [Element]) {
        self.elements = elements
        for index in stride(from: elements.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    public var isEmpty: Bool { elements.isEmpty }
    public var count: Int { elements.count }
    public var least: Element? { elements.first }

    public mutating func push(_ element: Element) {
        elements.append(element)
        var index = elements.count - 1
        while index > 0, elements[index] < elements[(index - 1) / 2] {
            elements.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    public mutating func popLeast() -> Element? {
        guard let last = elements.popLast() else { return nil }
        guard let least = elements.first else { return last }
        elements[0] = last
        sink(0)
        return least
    }

    public mutating func removeAll(where isGone: (Element) -> Bool) {
        self = Heap(elements.filter { !isGone($0) })
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < elements.count else { return }
            if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
            guard elements[child] < elements[index] else { return }
            elements.swapAt(index, child)
            index = child
        }
    }
}

extension Heap: Sendable where Element: Sendable {}
