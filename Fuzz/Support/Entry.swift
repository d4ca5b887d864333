/// What libFuzzer calls for each input; the target's own `fuzz` does the rest.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    fuzz(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
