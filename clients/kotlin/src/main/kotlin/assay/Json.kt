package assay

/** The text is not JSON. */
internal class NotJson : Exception()

/** The answer lacks a member, or one has another type. */
internal class NotAssays : Exception()

/** Reads JSON into maps, lists, strings, `Long`, `Double`, `Boolean` and `null`. */
internal class JsonReader(private val text: String) {
    private var at = 0

    companion object {
        /** Throws [NotJson]. */
        fun read(text: String): Any? = JsonReader(text).whole()
        private const val DEPTH = 100
    }

    private fun whole(): Any? {
        val value = value(0)
        space()
        if (at != text.length) throw NotJson()
        return value
    }

    private fun value(depth: Int): Any? {
        if (depth > DEPTH) throw NotJson()
        space()
        return when (peek()) {
            '{' -> members(depth)
            '[' -> elements(depth)
            '"' -> string()
            't' -> word("true", true)
            'f' -> word("false", false)
            'n' -> word("null", null)
            else -> number()
        }
    }

    private fun members(depth: Int): Map<String, Any?> {
        val found = LinkedHashMap<String, Any?>()
        at++
        space()
        while (peek() != '}') {
            space()
            val name = string()
            space()
            expect(':')
            found[name] = value(depth + 1)
            separator('}')
        }
        at++
        return found
    }

    private fun elements(depth: Int): List<Any?> {
        val found = ArrayList<Any?>()
        at++
        space()
        while (peek() != ']') {
            found += value(depth + 1)
            separator(']')
        }
        at++
        return found
    }

    /** A comma, or else the end is next. */
    private fun separator(end: Char) {
        space()
        if (peek() == end) return
        expect(',')
        space()
        if (peek() == end) throw NotJson()
    }

    private fun string(): String {
        expect('"')
        val found = StringBuilder()
        while (true) {
            val each = next()
            when {
                each == '"' -> return found.toString()
                each == '\\' -> found.append(escaped())
                each < ' ' -> throw NotJson()
                else -> found.append(each)
            }
        }
    }

    private fun escaped(): Char {
        val each = next()
        if (each == 'u') {
            if (at + 4 > text.length) throw NotJson()
            val code = text.substring(at, at + 4).toIntOrNull(16) ?: throw NotJson()
            at += 4
            return code.toChar()
        }
        val index = "\"\\/bfnrt".indexOf(each)
        return if (index < 0) throw NotJson() else "\"\\/\b\u000c\n\r\t"[index]
    }

    private fun number(): Any {
        val start = at
        while (at < text.length && text[at] in "+-.0123456789eE") at++
        val digits = text.substring(start, at)
        return digits.toLongOrNull() ?: digits.toDoubleOrNull() ?: throw NotJson()
    }

    private fun <Value> word(word: String, value: Value): Value {
        if (!text.startsWith(word, at)) throw NotJson()
        at += word.length
        return value
    }

    private fun space() {
        while (at < text.length && text[at] in " \t\r\n") at++
    }

    private fun peek(): Char = if (at < text.length) text[at] else throw NotJson()

    private fun next(): Char = peek().also { at++ }

    private fun expect(each: Char) {
        if (next() != each) throw NotJson()
    }
}

/** The members that are not `null`. */
internal fun present(vararg members: Pair<String, Any?>): Map<String, Any?> = members.toMap().filterValues { it != null }

internal fun json(value: Any?): String = StringBuilder().also { write(value, it) }.toString()

private fun write(value: Any?, out: StringBuilder) {
    when (value) {
        null, is Number, is Boolean -> out.append(value)
        is Map<*, *> -> {
            var separator = '{'
            for ((name, member) in value) {
                out.append(separator)
                write(name.toString(), out)
                out.append(':')
                write(member, out)
                separator = ','
            }
            out.append(if (separator == '{') "{}" else "}")
        }
        is Iterable<*> -> {
            var separator = '['
            for (element in value) {
                out.append(separator)
                write(element, out)
                separator = ','
            }
            out.append(if (separator == '[') "[]" else "]")
        }
        else -> {
            out.append('"')
            for (each in value.toString()) {
                when {
                    each == '"' || each == '\\' -> out.append('\\').append(each)
                    each < ' ' -> out.append(String.format("\\u%04x", each.toInt()))
                    else -> out.append(each)
                }
            }
            out.append('"')
        }
    }
}

/** The members of an answer. Unknown ones are ignored, so that a newer Assay can add some. */
internal class Members(private val members: Map<String, Any?>) {
    companion object {
        /** Throws [NotAssays]. */
        fun of(text: String): Members = try {
            Members(map(JsonReader.read(text)))
        } catch (_: NotJson) {
            throw NotAssays()
        }

        @Suppress("UNCHECKED_CAST")
        private fun map(value: Any?): Map<String, Any?> = value as? Map<String, Any?> ?: throw NotAssays()
    }

    fun string(name: String): String = stringOrNull(name) ?: throw NotAssays()
    fun integer(name: String): Long = integerOrNull(name) ?: throw NotAssays()
    fun boolean(name: String): Boolean = booleanOrNull(name) ?: throw NotAssays()
    fun strings(name: String): List<String> = stringsOrNull(name) ?: throw NotAssays()
    fun texts(name: String): Map<String, String> = map(name).mapValues { it.value as? String ?: throw NotAssays() }
    fun map(name: String): Map<String, Any?> = mapOrNull(name) ?: throw NotAssays()
    fun <Model> model(name: String, of: (Members) -> Model): Model = modelOrNull(name, of) ?: throw NotAssays()
    fun <Model> list(name: String, of: (Members) -> Model): List<Model> {
        val found = members[name] as? List<*> ?: throw NotAssays()
        return found.map { of(Members(map(it))) }
    }

    fun stringOrNull(name: String): String? = typed(name)
    fun integerOrNull(name: String): Long? = typed(name)
    fun booleanOrNull(name: String): Boolean? = typed(name)
    fun stringsOrNull(name: String): List<String>? = typed<List<*>>(name)?.map { it as? String ?: throw NotAssays() }
    fun mapOrNull(name: String): Map<String, Any?>? = members[name]?.let { map(it) }
    fun <Model> modelOrNull(name: String, of: (Members) -> Model): Model? = mapOrNull(name)?.let { of(Members(it)) }

    private inline fun <reified Type> typed(name: String): Type? {
        val value = members[name] ?: return null
        return value as? Type ?: throw NotAssays()
    }
}
