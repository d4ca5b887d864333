import CJansson
import CMalloc
import COpenSSL
import Glibc
import Synchronization

/// The number of blocks allocated by OpenSSL and jansson, and the bytes in use on the heap.
struct Allocations {
    let openSSLBlocks: Int
    let janssonBlocks: Int
    let heapBytes: Int

    static var now: Allocations {
        Allocations(
            openSSLBlocks: openSSLCount.load(ordering: .relaxed), janssonBlocks: janssonCount.load(ordering: .relaxed),
            heapBytes: Int(mallinfo2().uordblks))
    }

    /// Installs counting allocators in both libraries. Must be called before either allocates anything.
    static func beginCounting() {
        let isCounted = unsafe CRYPTO_set_mem_functions(
            { size, _, _ in unsafe counted(malloc(size), openSSLCount) },
            { block, size, _, _ in
                guard let block = unsafe block else { return unsafe counted(malloc(size), openSSLCount) }
                guard size > 0 else {
                    unsafe release(block, openSSLCount)
                    return nil
                }
                return unsafe realloc(block, size)
            },
            { block, _, _ in unsafe release(block, openSSLCount) })
        guard isCounted == 1 else { fatalError("OpenSSL has allocated already") }
        unsafe json_set_alloc_funcs(
            { unsafe counted(malloc($0), janssonCount) }, { unsafe release($0, janssonCount) })
    }
}

private let openSSLCount = Atomic(0)
private let janssonCount = Atomic(0)

private func counted(_ block: UnsafeMutableRawPointer?, _ count: borrowing Atomic<Int>) -> UnsafeMutableRawPointer? {
    if unsafe block != nil { count.add(1, ordering: .relaxed) }
    return unsafe block
}

private func release(_ block: UnsafeMutableRawPointer?, _ count: borrowing Atomic<Int>) {
    if unsafe block != nil { count.subtract(1, ordering: .relaxed) }
    unsafe free(block)
}
