"""An MCP server with three tools. It trusts the header X-Auth-Subject: protected.py or a gateway sets it."""

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("notes")
notes: dict[str, list[str]] = {}


def caller(context: Context) -> str:
    """Whose token came with the request."""
    return context.headers["x-auth-subject"]


@server.tool()
def whoami(context: Context) -> str:
    """Your subject at the authorization server."""
    return caller(context)


@server.tool()
def remember(note: str, context: Context) -> str:
    """Keeps a note."""
    notes.setdefault(caller(context), []).append(note)
    return f"{len(notes[caller(context)])} notes"


@server.tool()
def forget(context: Context) -> str:
    """Deletes all your notes."""
    return f"{len(notes.pop(caller(context), []))} notes deleted"


# Without sessions: each request shows its own token, and nobody can take over another user's session.
app = server.streamable_http_app(stateless_http=True, json_response=True)
