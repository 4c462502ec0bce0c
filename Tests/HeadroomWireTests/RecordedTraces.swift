/// What OpenAI's SDK 3.54 sent under three instrumentations: one call that a provider served (200 tokens in, 50 out) and one
/// that it refused. Recorded from OpenTelemetry's exporter 1.45.2, protobuf in base64; stack traces were taken out.
enum RecordedTraces {
    struct Recording: Sendable {
        let name: String
        /// When its last span ended, on the sender's clock.
        let sentAt: Int64
        let base64: String
    }

    static let all = [
        // opentelemetry-instrumentation-openai-v2 2.4b0
        Recording(
            name: "opentelemetry", sentAt: 1_795_409_907_799,
            base64: """
                CrUGCjcKHwoMc2VydmljZS5uYW1lEg8KDW9wZW50ZWxlbWV0cnkKFAoKYXBwLnRlbmFudBIGCgRhY21lEvkFCikKIG9wZW50ZWxlbWV0cnku\
                dXRpbC5nZW5haS5oYW5kbGVyEgUxLjBiMBL3AgoQRg4QPMpaL/7ZX4VNY6LV1hII+2VKKtErcb8qCWNoYXQgbW9jazADOcBiuFPMk+oYQWPp\
                VmPMk+oYSh8KFWdlbl9haS5vcGVyYXRpb24ubmFtZRIGCgRjaGF0Sh4KFGdlbl9haS5yZXF1ZXN0Lm1vZGVsEgYKBG1vY2tKIAoUZ2VuX2Fp\
                LnByb3ZpZGVyLm5hbWUSCAoGb3BlbmFpSh8KGWdlbl9haS5yZXF1ZXN0Lm1heF90b2tlbnMSAhhkSiwKHmdlbl9haS5yZXNwb25zZS5maW5p\
                c2hfcmVhc29ucxIKKggKBgoEc3RvcEofChVnZW5fYWkucmVzcG9uc2UubW9kZWwSBgoEbW9ja0obChJnZW5fYWkucmVzcG9uc2UuaWQSBQoD\
                Yy0xSiAKGWdlbl9haS51c2FnZS5pbnB1dF90b2tlbnMSAxjIAUogChpnZW5fYWkudXNhZ2Uub3V0cHV0X3Rva2VucxICGDJ6AIUBAAEAABKo\
                AgoQpl21l8p01X3MBqaChdTWVxIIIMIuGUKhkEcqCWNoYXQgbW9jazADOQqyKnTMk+oYQaDdoHTMk+oYSh8KFWdlbl9haS5vcGVyYXRpb24u\
                bmFtZRIGCgRjaGF0Sh4KFGdlbl9haS5yZXF1ZXN0Lm1vZGVsEgYKBG1vY2tKIAoUZ2VuX2FpLnByb3ZpZGVyLm5hbWUSCAoGb3BlbmFpSh8K\
                GWdlbl9haS5yZXF1ZXN0Lm1heF90b2tlbnMSAhhkSh4KCmVycm9yLnR5cGUSEAoOUmF0ZUxpbWl0RXJyb3J6QRI9RXJyb3IgY29kZTogNDI5\
                IC0gUmF0ZSBsaW1pdCByZWFjaGVkIGZvciB0b2tlbnMgcGVyIG1pbiAoVFBNKRgChQEAAQAAGidodHRwczovL29wZW50ZWxlbWV0cnkuaW8v\
                c2NoZW1hcy8xLjM3LjA=
                """),
        // opentelemetry-instrumentation-openai 0.62.4
        Recording(
            name: "openllmetry", sentAt: 1_795_409_911_284,
            base64: """
                CssNCjUKHQoMc2VydmljZS5uYW1lEg0KC29wZW5sbG1ldHJ5ChQKCmFwcC50ZW5hbnQSBgoEYWNtZRKRDQoxCidvcGVudGVsZW1ldHJ5Lmlu\
                c3RydW1lbnRhdGlvbi5vcGVuYWkudjESBjAuNjIuNBLFBwoQOmT788pO4Ys80feuTltBNxIItPsjGIKqS24qC29wZW5haS5jaGF0MAM5hTqx\
                L82T6hhBksEJPc2T6hhKHwoVZ2VuX2FpLm9wZXJhdGlvbi5uYW1lEgYKBGNoYXRKIAoUZ2VuX2FpLnByb3ZpZGVyLm5hbWUSCAoGb3BlbmFp\
                Sh4KFGdlbl9haS5yZXF1ZXN0Lm1vZGVsEgYKBG1vY2tKHwoZZ2VuX2FpLnJlcXVlc3QubWF4X3Rva2VucxICGGRKGQoTZ2VuX2FpLmlzX3N0\
                cmVhbWluZxICEABKNgoWZ2VuX2FpLm9wZW5haS5hcGlfYmFzZRIcChpodHRwOi8vMTI3LjAuMC4xOjU1NTQ5L3YxL0peChVnZW5fYWkuaW5w\
                dXQubWVzc2FnZXMSRQpDW3sicm9sZSI6ICJ1c2VyIiwgInBhcnRzIjogW3siY29udGVudCI6ICJIZWxsbyIsICJ0eXBlIjogInRleHQifV19\
                XUofChVnZW5fYWkucmVzcG9uc2UubW9kZWwSBgoEbW9ja0obChJnZW5fYWkucmVzcG9uc2UuaWQSBQoDYy0xSiwKHmdlbl9haS5yZXNwb25z\
                ZS5maW5pc2hfcmVhc29ucxIKKggKBgoEc3RvcEogChlnZW5fYWkudXNhZ2UudG90YWxfdG9rZW5zEgMY+gFKIAoaZ2VuX2FpLnVzYWdlLm91\
                dHB1dF90b2tlbnMSAhgySiAKGWdlbl9haS51c2FnZS5pbnB1dF90b2tlbnMSAxjIAUr0AgoWZ2VuX2FpLm91dHB1dC5tZXNzYWdlcxLZAgrW\
                Alt7InJvbGUiOiAiYXNzaXN0YW50IiwgInBhcnRzIjogW3siY29udGVudCI6ICJ3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3Jk\
                IHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQg\
                d29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3\
                b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgIiwgInR5cGUiOiAidGV4dCJ9XSwgImZpbmlz\
                aF9yZWFzb24iOiAic3RvcCJ9XXoAhQEAAQAAEpMFChBvaPOABrED13LfrptiXXQwEggNJHeqKmgm6SoLb3BlbmFpLmNoYXQwAzkSGlFDzZPq\
                GEFjfFVEzZPqGEofChVnZW5fYWkub3BlcmF0aW9uLm5hbWUSBgoEY2hhdEogChRnZW5fYWkucHJvdmlkZXIubmFtZRIICgZvcGVuYWlKHgoU\
                Z2VuX2FpLnJlcXVlc3QubW9kZWwSBgoEbW9ja0ofChlnZW5fYWkucmVxdWVzdC5tYXhfdG9rZW5zEgIYZEoZChNnZW5fYWkuaXNfc3RyZWFt\
                aW5nEgIQAEo2ChZnZW5fYWkub3BlbmFpLmFwaV9iYXNlEhwKGmh0dHA6Ly8xMjcuMC4wLjE6MzM1NTkvdjEvSl4KFWdlbl9haS5pbnB1dC5t\
                ZXNzYWdlcxJFCkNbeyJyb2xlIjogInVzZXIiLCAicGFydHMiOiBbeyJjb250ZW50IjogIkhlbGxvIiwgInR5cGUiOiAidGV4dCJ9XX1dSh4K\
                CmVycm9yLnR5cGUSEAoOUmF0ZUxpbWl0RXJyb3JaswEJzdJURM2T6hgSCWV4Y2VwdGlvbhopCg5leGNlcHRpb24udHlwZRIXChVvcGVuYWku\
                UmF0ZUxpbWl0RXJyb3IaVAoRZXhjZXB0aW9uLm1lc3NhZ2USPwo9RXJyb3IgY29kZTogNDI5IC0gUmF0ZSBsaW1pdCByZWFjaGVkIGZvciB0\
                b2tlbnMgcGVyIG1pbiAoVFBNKRocChFleGNlcHRpb24uZXNjYXBlZBIHCgVGYWxzZXpBEj1FcnJvciBjb2RlOiA0MjkgLSBSYXRlIGxpbWl0\
                IHJlYWNoZWQgZm9yIHRva2VucyBwZXIgbWluIChUUE0pGAKFAQABAAA=
                """),
        // openinference-instrumentation-openai 0.1.66
        Recording(
            name: "openinference", sentAt: 1_795_409_911_710,
            base64: """
                CpcSCjcKHwoMc2VydmljZS5uYW1lEg8KDW9wZW5pbmZlcmVuY2UKFAoKYXBwLnRlbmFudBIGCgRhY21lEtsRCi4KJG9wZW5pbmZlcmVuY2Uu\
                aW5zdHJ1bWVudGF0aW9uLm9wZW5haRIGMC4xLjY2Et0LChCvx65OUHeLYIG0LwhZ7GarEgiJwvumufd0pSIIG80VYNiGHiwqDkNoYXRDb21w\
                bGV0aW9uMAE5bYNKSs2T6hhB5ZcIV82T6hhKFgoKbGxtLnN5c3RlbRIICgZvcGVuYWlKaQoLaW5wdXQudmFsdWUSWgpYeyJtb2RlbCI6ICJt\
                b2NrIiwgIm1lc3NhZ2VzIjogW3sicm9sZSI6ICJ1c2VyIiwgImNvbnRlbnQiOiAiSGVsbG8ifV0sICJtYXhfdG9rZW5zIjogMTAwfUolCg9p\
                bnB1dC5taW1lX3R5cGUSEgoQYXBwbGljYXRpb24vanNvbkr8AwoMb3V0cHV0LnZhbHVlEusDCugDeyJpZCI6ImMtMSIsImNob2ljZXMiOlt7\
                ImZpbmlzaF9yZWFzb24iOiJzdG9wIiwiaW5kZXgiOjAsIm1lc3NhZ2UiOnsiY29udGVudCI6IndvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3\
                b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdv\
                cmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29y\
                ZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCAiLCJyb2xlIjoiYXNzaXN0YW50\
                In19XSwiY3JlYXRlZCI6MTc5NTQwOTkxMSwibW9kZWwiOiJtb2NrIiwib2JqZWN0IjoiY2hhdC5jb21wbGV0aW9uIiwidXNhZ2UiOnsiY29t\
                cGxldGlvbl90b2tlbnMiOjUwLCJwcm9tcHRfdG9rZW5zIjoyMDAsInRvdGFsX3Rva2VucyI6MjUwfX1KJgoQb3V0cHV0Lm1pbWVfdHlwZRIS\
                ChBhcHBsaWNhdGlvbi9qc29uSkMKGWxsbS5pbnZvY2F0aW9uX3BhcmFtZXRlcnMSJgokeyJtb2RlbCI6ICJtb2NrIiwgIm1heF90b2tlbnMi\
                OiAxMDB9SisKIWxsbS5pbnB1dF9tZXNzYWdlcy4wLm1lc3NhZ2Uucm9sZRIGCgR1c2VySi8KJGxsbS5pbnB1dF9tZXNzYWdlcy4wLm1lc3Nh\
                Z2UuY29udGVudBIHCgVIZWxsb0oYCg5sbG0ubW9kZWxfbmFtZRIGCgRtb2NrShwKFWxsbS50b2tlbl9jb3VudC50b3RhbBIDGPoBSh0KFmxs\
                bS50b2tlbl9jb3VudC5wcm9tcHQSAxjIAUogChpsbG0udG9rZW5fY291bnQuY29tcGxldGlvbhICGDJKMQoibGxtLm91dHB1dF9tZXNzYWdl\
                cy4wLm1lc3NhZ2Uucm9sZRILCglhc3Npc3RhbnRKpwIKJWxsbS5vdXRwdXRfbWVzc2FnZXMuMC5tZXNzYWdlLmNvbnRlbnQS/QEK+gF3b3Jk\
                IHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQg\
                d29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3\
                b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdvcmQgd29yZCB3b3JkIHdv\
                cmQgShsKEWxsbS5maW5pc2hfcmVhc29uEgYKBHN0b3BKIAoXb3BlbmluZmVyZW5jZS5zcGFuLmtpbmQSBQoDTExNegIYAYUBAAEAABLIBQoQ\
                +4Gf3VvmF8Kj97Dz3srcshIIRNw6l7XbuDoiCDAcIrEseLdjKg5DaGF0Q29tcGxldGlvbjABOfQc+VzNk+oYQZ46u13Nk+oYShYKCmxsbS5z\
                eXN0ZW0SCAoGb3BlbmFpSmkKC2lucHV0LnZhbHVlEloKWHsibW9kZWwiOiAibW9jayIsICJtZXNzYWdlcyI6IFt7InJvbGUiOiAidXNlciIs\
                ICJjb250ZW50IjogIkhlbGxvIn1dLCAibWF4X3Rva2VucyI6IDEwMH1KJQoPaW5wdXQubWltZV90eXBlEhIKEGFwcGxpY2F0aW9uL2pzb25K\
                QwoZbGxtLmludm9jYXRpb25fcGFyYW1ldGVycxImCiR7Im1vZGVsIjogIm1vY2siLCAibWF4X3Rva2VucyI6IDEwMH1KKwohbGxtLmlucHV0\
                X21lc3NhZ2VzLjAubWVzc2FnZS5yb2xlEgYKBHVzZXJKLwokbGxtLmlucHV0X21lc3NhZ2VzLjAubWVzc2FnZS5jb250ZW50EgcKBUhlbGxv\
                SiAKF29wZW5pbmZlcmVuY2Uuc3Bhbi5raW5kEgUKA0xMTVqzAQmSV3ldzZPqGBIJZXhjZXB0aW9uGikKDmV4Y2VwdGlvbi50eXBlEhcKFW9w\
                ZW5haS5SYXRlTGltaXRFcnJvchpUChFleGNlcHRpb24ubWVzc2FnZRI/Cj1FcnJvciBjb2RlOiA0MjkgLSBSYXRlIGxpbWl0IHJlYWNoZWQg\
                Zm9yIHRva2VucyBwZXIgbWluIChUUE0pGhwKEWV4Y2VwdGlvbi5lc2NhcGVkEgcKBUZhbHNlelESTVJhdGVMaW1pdEVycm9yOiBFcnJvciBj\
                b2RlOiA0MjkgLSBSYXRlIGxpbWl0IHJlYWNoZWQgZm9yIHRva2VucyBwZXIgbWluIChUUE0pGAKFAQABAAA=
                """),
    ]
}
