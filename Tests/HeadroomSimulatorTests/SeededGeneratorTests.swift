import Foundation
import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct SeededGeneratorTests {
    @Test func `the same seed and stream give the same bits everywhere`() {
        // Computed by an implementation in another language.
        let table: [(UInt64, StaticString, [UInt64])] = [
            (0, "a", [0x2F3F_2C91_977A_F5EE, 0x30F4_1370_8903_0AB1, 0x627D_8AFD_9EF3_8B39]),
            (1, "a", [0x7D03_F6FF_9495_0FC6, 0xACA4_7478_D629_D795, 0x834E_744E_A928_8EBE]),
            (1, "b", [0xE879_2A79_D178_FC9B, 0x797F_654F_7516_F24D, 0xFC8C_238B_3C69_CAE5]),
            (.max, "", [0x282C_8C32_0B48_2DCF, 0x1BB5_2262_1464_EEC9, 0xC026_939B_5916_1AA5]),
        ]
        for (seed, stream, expected) in table {
            var generator = SeededGenerator(seed: seed, stream: stream)
            #expect(expected.map { _ in generator.next() } == expected, "seed \(seed), stream \(stream)")
        }
    }

    @Test func `the logarithm agrees with the C library's to 1e-15`() {
        var generator = SeededGenerator(seed: 1, stream: "test")
        for _ in 0..<2000 {
            let x = exponential(generator.drawUniform() * 1200 - 600)
            let expected = log(x)
            #expect(abs(naturalLogarithm(x) - expected) <= max(1e-15 * abs(expected), 2e-16), "x = \(x)")
        }
        #expect(naturalLogarithm(1) == 0)
    }

    @Test func `waits have the mean and the variation asked for`() {
        for variation in [0.5, 1, 2, 4] {
            var generator = SeededGenerator(seed: 7, stream: "test")
            let count = 60000
            let waits = (0..<count).map { _ in generator.drawBurstyWait(mean: 3, variation: variation) }
            let mean = waits.reduce(0, +) / Double(count)
            let square = waits.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(count)
            #expect(abs(mean / 3 - 1) < 0.05, "variation \(variation)")
            #expect(abs(square.squareRoot() / mean / max(1, variation) - 1) < 0.08, "variation \(variation)")
        }
    }

    @Test func `draws are spread as their names say`() {
        var generator = SeededGenerator(seed: 3, stream: "test")
        let count = 20000
        let normals = (0..<count).map { _ in generator.drawNormal() }
        #expect(abs(normals.reduce(0, +) / Double(count)) < 0.03)
        #expect(abs(normals.reduce(0) { $0 + $1 * $1 } / Double(count) - 1) < 0.05)
        var counts = [0, 0, 0]
        for _ in 0..<count { counts[generator.drawIndex(below: 3)] += 1 }
        #expect(counts.allSatisfy { abs(Double($0) / Double(count) - 1.0 / 3) < 0.02 })
        var order = Array(0..<100)
        generator.shuffle(&order)
        #expect(order.sorted() == Array(0..<100) && order != Array(0..<100))
    }

    @Test func `a quantile table is met at its points and between them`() {
        let table = QuantileTable([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40])
        for (probability, value) in [(0, 0.0), (0.05, 1), (0.5, 6), (0.55, 6.5), (0.99, 30), (1, 40)] {
            #expect(abs(table.value(at: probability) - value) < 1e-12, "\(probability)")
        }
        var generator = SeededGenerator(seed: 5, stream: "test")
        let mean = (0..<20000).reduce(0) { sum, _ in sum + table.draw(using: &generator) } / 20000
        #expect(abs(mean / table.mean - 1) < 0.02)
    }
}
