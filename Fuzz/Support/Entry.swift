/// The entry point that libFuzzer calls for each input. Calls the target's `fuzz`.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    fuzz(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
