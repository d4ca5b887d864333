// Posts notifications to docs/clients/kotlin/Receiver.kt: reads them as JSON, one per line, and writes what it did.

import assay.Assay
import com.google.gson.Gson
import com.google.gson.JsonParser

fun main() {
    val assay = Assay(System.getenv("ASSAY_URL"), System.getenv("ASSAY_API_KEY"), retryFor = 0)
    // Stands in for the database.
    val known = HashSet<Pair<String, String>>()
    val done = ArrayList<String>()
    val receiver = Receiver(assay) { notification, events ->
        if (known.add(notification.provider to notification.id)) events.mapTo(done) { it.type }
    }
    while (true) {
        val sent = JsonParser.parseString(readLine() ?: return).asJsonObject["receive"].asJsonObject
        done.clear()
        val answered = receiver.receive(sent["content_type"].asString, sent["body"].asString)
        println(Gson().toJson(mapOf("answered" to answered, "done" to done)))
    }
}
