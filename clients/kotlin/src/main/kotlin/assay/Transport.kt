package assay

import java.io.BufferedInputStream
import java.io.ByteArrayOutputStream
import java.io.Closeable
import java.io.File
import java.io.IOException
import java.io.InputStream
import java.io.OutputStream
import java.net.InetSocketAddress
import java.net.Socket
import java.net.URI
import java.net.UnixDomainSocketAddress
import java.nio.channels.Channels
import java.nio.channels.SocketChannel
import java.security.KeyStore
import java.security.cert.CertificateFactory
import java.util.concurrent.ConcurrentLinkedDeque
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.TimeUnit
import javax.net.ssl.SSLContext
import javax.net.ssl.SSLSocket
import javax.net.ssl.SSLSocketFactory
import javax.net.ssl.TrustManagerFactory

/** The connection failed. [sent]: Assay may have got the request anyway. [detail]: where; unless [sent], also why. */
class NoAnswer @JvmOverloads constructor(val sent: Boolean, val detail: String? = null) : Exception(detail ?: "no answer")

/** An HTTP response. */
class Reply(val status: Int, val body: String, val retryAfter: Int? = null)

/** How a client reaches Assay; a test may have its own. */
interface Transport {
    /** Throws [NoAnswer]. Without a body, it is a GET. [once]: over a new connection, which nobody has closed as idle. [timeout] is in milliseconds. */
    fun send(path: String, body: String, headers: Map<String, String>, timeout: Long, once: Boolean): Reply

    /** Milliseconds. */
    fun now(): Long

    fun sleep(milliseconds: Long)
}

/**
 * HTTP over TCP, TLS or a Unix domain socket. Follows no redirect and uses no proxy: only Assay may see a token.
 *
 * The JDK's own client has no Unix sockets, and does not tell whether a request was sent.
 */
internal class HttpTransport(url: String, caFile: String?) : Transport {
    private val socketPath = if (url.startsWith("unix:")) url.removePrefix("unix:") else null
    private val uri = URI(if (socketPath == null) url else "http://localhost")
    private val isSecure = uri.scheme == "https"
    private val host = uri.host ?: ""
    private val port = if (uri.port >= 0) uri.port else if (isSecure) 443 else 80
    private val prefix = (uri.rawPath ?: "").trimEnd('/')
    private val tls: SSLSocketFactory? = if (isSecure) factory(caFile) else null
    private val idle = ConcurrentLinkedDeque<Connection>()
    /** For errors: without what a URL may have before its host, or after. */
    private val place = if (socketPath == null) "${uri.scheme}://$host:$port" else url

    init {
        require(host != "" && (isSecure || uri.scheme == "http")) {
            "the URL must begin with http://, https:// or unix:; found \"$url\""
        }
    }

    override fun send(path: String, body: String, headers: Map<String, String>, timeout: Long, once: Boolean): Reply {
        val end = now() + timeout
        var connection: Connection? = if (once) null else kept()
        var watch = connection?.let { closing(it, timeout) }
        var sent = connection != null
        try {
            val used = connection ?: connect(timeout).also { connection = it }
            val timer = watch ?: closing(used, end - now()).also { watch = it }
            sent = true
            val reply = used.exchange(request(path, body, headers, once))
            if (used.isReusable && !once && timer.cancel(false)) idle.addFirst(used) else used.close()
            return reply
        } catch (failure: IOException) {
            connection?.close()
            // Once the request was sent, the failure's text may have something of it.
            throw NoAnswer(sent, if (sent) "no whole answer came from $place" else "can't connect to $place: $failure")
        } finally {
            watch?.cancel(false)
        }
    }

    override fun now(): Long = System.nanoTime() / 1_000_000

    override fun sleep(milliseconds: Long) = Thread.sleep(milliseconds)

    private fun kept(): Connection? {
        while (true) {
            val connection = idle.pollFirst() ?: return null
            if (now() - connection.usedAt < IDLE) return connection
            connection.close()
        }
    }

    /** Closes the connection after the timeout, which ends a read or write. */
    private fun closing(connection: Connection, timeout: Long) =
        watchdog.schedule({ connection.close() }, timeout, TimeUnit.MILLISECONDS)

    private fun connect(timeout: Long): Connection {
        if (socketPath != null) {
            val channel = SocketChannel.open(UnixDomainSocketAddress.of(socketPath))
            return Connection(Channels.newInputStream(channel), Channels.newOutputStream(channel), channel)
        }
        val socket = Socket()
        try {
            socket.tcpNoDelay = true
            socket.connect(InetSocketAddress(host.removeSurrounding("[", "]"), port), maxOf(1, timeout).toInt())
            val secured = if (tls == null) socket else secured(socket, tls, timeout)
            return Connection(secured.getInputStream(), secured.getOutputStream(), secured)
        } catch (error: IOException) {
            socket.close()
            throw error
        }
    }

    /** After the handshake; before it, no request is sent. */
    private fun secured(socket: Socket, tls: SSLSocketFactory, timeout: Long): SSLSocket {
        val secured = tls.createSocket(socket, host, port, true) as SSLSocket
        secured.sslParameters = secured.sslParameters.apply { endpointIdentificationAlgorithm = "HTTPS" }
        secured.soTimeout = maxOf(1, timeout).toInt()
        secured.startHandshake()
        secured.soTimeout = 0
        return secured
    }

    private fun request(path: String, body: String, headers: Map<String, String>, once: Boolean): ByteArray {
        val octets = body.toByteArray()
        val head = StringBuilder("${if (body == "") "GET" else "POST"} $prefix$path HTTP/1.1\r\nHost: $host:$port\r\n")
        if (body != "") head.append("Content-Length: ${octets.size}\r\n")
        head.append("Connection: ${if (once) "close" else "keep-alive"}\r\n")
        for ((name, value) in headers) head.append("$name: $value\r\n")
        return head.append("\r\n").toString().toByteArray(Charsets.ISO_8859_1) + octets
    }

    private companion object {
        /** Milliseconds. Assay closes idle connections after 75 s. */
        const val IDLE = 60_000L

        val watchdog = ScheduledThreadPoolExecutor(1) { run -> Thread(run, "assay-timeouts").apply { isDaemon = true } }
            .apply { removeOnCancelPolicy = true }

        fun factory(caFile: String?): SSLSocketFactory {
            if (caFile == null) return SSLSocketFactory.getDefault() as SSLSocketFactory
            val store = KeyStore.getInstance(KeyStore.getDefaultType()).apply { load(null) }
            File(caFile).inputStream().use { file ->
                CertificateFactory.getInstance("X.509").generateCertificates(file)
                    .forEachIndexed { index, each -> store.setCertificateEntry("ca$index", each) }
            }
            val managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm()).apply { init(store) }
            return SSLContext.getInstance("TLS").apply { init(null, managers.trustManagers, null) }.socketFactory
        }
    }
}

/** A connection, which one request uses at a time. */
private class Connection(input: InputStream, private val output: OutputStream, private val socket: Closeable) {
    private val input = BufferedInputStream(input)
    var usedAt = 0L
        private set
    var isReusable = false
        private set

    fun exchange(request: ByteArray): Reply {
        isReusable = false
        output.write(request)
        output.flush()
        var status = head()
        while (status.code in 100..199) status = head()
        val body = body(status)
        usedAt = System.nanoTime() / 1_000_000
        return Reply(status.code, String(body, Charsets.UTF_8), status.retryAfter)
    }

    fun close() = try {
        socket.close()
    } catch (_: IOException) {
    }

    private class Head(val code: Int, val fields: Map<String, String>) {
        val retryAfter: Int? = fields["retry-after"]?.takeIf { it.length < 10 }?.toIntOrNull()?.takeIf { it >= 0 }
    }

    private fun head(): Head {
        val line = line().split(' ')
        val code = line.getOrNull(1)?.toIntOrNull()
        if (!line[0].startsWith("HTTP/1.") || code == null) throw IOException("not HTTP")
        val fields = HashMap<String, String>()
        while (true) {
            val field = line()
            if (field == "") return Head(code, fields)
            fields[field.substringBefore(':').toLowerCase()] = field.substringAfter(':').trim()
        }
    }

    private fun body(head: Head): ByteArray {
        isReusable = head.fields["connection"]?.toLowerCase() != "close"
        if (head.code == 204 || head.code == 304) return ByteArray(0)
        if (head.fields["transfer-encoding"]?.toLowerCase() == "chunked") return chunks()
        val length = head.fields["content-length"]
        if (length == null) {
            isReusable = false
            return ByteArrayOutputStream().also { input.copyTo(it) }.toByteArray()
        }
        return octets(length.toIntOrNull() ?: throw IOException("not a length"))
    }

    private fun chunks(): ByteArray {
        val out = ByteArrayOutputStream()
        while (true) {
            val size = line().substringBefore(';').trim().toIntOrNull(16) ?: throw IOException("not a chunk")
            if (size == 0) break
            out.write(octets(size))
            line()
        }
        while (line() != "") Unit
        return out.toByteArray()
    }

    private fun octets(length: Int): ByteArray {
        if (length < 0 || length > LARGEST) throw IOException("too large")
        val octets = ByteArray(length)
        var read = 0
        while (read < length) {
            val more = input.read(octets, read, length - read)
            if (more < 0) throw IOException("the answer ended early")
            read += more
        }
        return octets
    }

    private fun line(): String {
        val line = StringBuilder()
        while (true) {
            val octet = input.read()
            if (octet < 0 || line.length > 65_536) throw IOException("the answer ended early")
            if (octet == '\n'.toInt()) return line.toString().removeSuffix("\r")
            line.append(octet.toChar())
        }
    }

    private companion object {
        const val LARGEST = 16 shl 20
    }
}
