import HeadroomModel

extension TenantProfile {
    func write(to writer: inout ByteWriter) {
        writer.write(tenant.text)
        writer.write(lastSeen)
        writer.write(broughtBy)
        writer.write(flows) { writer, flow in
            writer.write(UInt8(flow.criticality.rawValue))
            writer.write(flow.wanted) { $1.write(to: &$0) }
            writer.write(flow.served) { $1.write(to: &$0) }
            writer.write(flow.demand)
            flow.minutes.write(to: &writer)
            flow.shape.write(to: &writer)
            writer.write(flow.retries)
            writer.write(flow.tokens)
        }
        shape.write(to: &writer)
        correction.write(to: &writer)
        evidence.write(to: &writer)
        retried.write(to: &writer)
        writer.write(queues) { writer, queue in
            writer.write(queue.gateway)
            writer.write(UInt8(queue.criticality.rawValue))
            writer.write(queue.at)
            writer.write(queue.depth)
            writer.write(queue.tokens)
            writer.write(queue.oldestSeconds)
        }
        writer.write(arrivals) { writer, arrival in
            writer.write(arrival.gateway)
            arrival.amount.write(to: &writer)
        }
        waiting.write(to: &writer)
        lately.write(to: &writer)
        writer.write(demandAt)
        writer.write(servedLately)
        tasks.write(to: &writer)
        watch.write(to: &writer)
        burstiness.write(to: &writer)
        repayment.write(to: &writer)
        writer.write(newestMinute)
        writer.write(firstMinute)
        writer.write(closedWeight)
    }

    init(from reader: inout ByteReader, ringSeconds: Int, gateways: Int) throws(ByteCodingError) {
        self.init(try reader.readIdentifier(), at: try reader.readTimestamp())
        broughtBy = try reader.read()
        flows = try reader.readArray(leastBytes: 200) { reader in
            var flow = Flow(criticality: try reader.readCriticality())
            flow.wanted = try reader.readOptional { reader in
                try SecondRing(seconds: ringSeconds, from: &reader)
            }
            flow.served = try reader.readOptional { reader in
                try SecondRing(seconds: ringSeconds, from: &reader)
            }
            flow.demand = try reader.readWork()
            flow.minutes = try MinuteSeries(from: &reader)
            flow.shape = try Shape(from: &reader)
            flow.retries = try reader.read()
            flow.tokens = try reader.readAmount()
            return flow
        }
        shape = try Shape(from: &reader)
        correction = try TokenCorrection(from: &reader)
        evidence = try Fading(from: &reader)
        retried = try Fading(from: &reader)
        queues = try reader.readArray(leastBytes: 31) { reader in
            let gateway = try reader.readGateway(of: gateways)
            return Queue(
                gateway: gateway, criticality: try reader.readCriticality(), at: try reader.readTimestamp(),
                depth: try reader.read(), tokens: try reader.read(), oldestSeconds: try reader.readFloatAmount())
        }
        arrivals = try reader.readArray(leastBytes: 14) { reader in
            let gateway = try reader.readGateway(of: gateways)
            return Arrivals(amount: try Fading(from: &reader), gateway: gateway)
        }
        waiting = try WaitingBook(from: &reader)
        lately = try AskedLately(from: &reader)
        demandAt = try reader.readTimestamp()
        servedLately = try reader.readWork()
        tasks = try TaskTally(from: &reader)
        watch = try GamingWatch(from: &reader)
        burstiness = try Burstiness(from: &reader)
        repayment = try Repayment(from: &reader)
        newestMinute = try reader.read()
        firstMinute = try reader.read()
        guard firstMinute >= 0, firstMinute <= newestMinute, newestMinute < Int64.max / 60_000 else {
            throw .outOfRange
        }
        closedWeight = try reader.readFloatAmount()
    }
}

extension ByteReader {
    mutating func readCriticality() throws(ByteCodingError) -> Criticality {
        guard let criticality = Criticality(rawValue: Int(try read(UInt8.self))) else { throw .outOfRange }
        return criticality
    }

    fileprivate mutating func readGateway(of count: Int) throws(ByteCodingError) -> UInt16 {
        let gateway = try read(UInt16.self)
        guard gateway < count else { throw .outOfRange }
        return gateway
    }
}
