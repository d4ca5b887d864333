-- The action `lua.assay URL` asks Assay about a request. It sets `txn.assay_status` to the status of the answer, or leaves it
-- unset. On 200, it copies the identity headers to the request. `txn.assay_challenge` and `txn.assay_nonce` are for the client.
-- The rules after it in haproxy.cfg decide.

-- In milliseconds. Assay answers within 150 (`forward_auth.timeout`), about opaque tokens within 1000
-- (`forward_auth.introspection_timeout`). Without such tokens, 200 is enough.
local TIMEOUT = 1200
local SENT = { "authorization", "cookie", "dpop", "client-cert" }
-- Of a WebSocket's handshake, whose list of protocols may contain the token.
local SENT_OF_HANDSHAKE = { "upgrade", "origin", "sec-websocket-protocol" }
local PROTOCOLS = "sec-websocket-protocol"
local COPIED = "^x%-auth%-"
local KEY = os.getenv("ASSAY_KEY")

-- HAProxy's lists of received values begin at 0; its HTTP client takes lists that begin at 1.
local function values(list)
    local found = {}
    for index = 0, #list do
        found[index + 1] = list[index]
    end
    return found
end

local function ask(txn, url)
    local received, headers = txn.http:req_get_headers(), {}
    local function send(names)
        for _, name in ipairs(names) do
            if received[name] then
                headers[name] = values(received[name])
            end
        end
    end
    send(SENT)
    if txn:get_var("txn.web_socket") then
        send(SENT_OF_HANDSHAKE)
    end
    -- The request that a DPoP proof must be for.
    headers["x-forwarded-method"] = { txn.sf:method() }
    headers["x-forwarded-uri"] = { txn.sf:pathq() }
    if KEY then
        headers["x-assay-key"] = { KEY }
    end

    local answer = core.httpclient():get({ url = url, headers = headers, timeout = TIMEOUT })
    local function keep(name, variable)
        if answer.headers and answer.headers[name] then
            txn:set_var(variable, answer.headers[name][0])
        end
    end
    if answer.status == 200 then
        for name, list in pairs(answer.headers) do
            if name:find(COPIED) then
                txn.http:req_set_header(name, list[0])
            end
        end
        if answer.headers[PROTOCOLS] then
            -- The list without the token.
            txn.http:req_set_header(PROTOCOLS, answer.headers[PROTOCOLS][0])
        end
    elseif answer.status == 401 or answer.status == 403 then
        keep("www-authenticate", "txn.assay_challenge")
    end
    keep("dpop-nonce", "txn.assay_nonce")
    txn:set_var("txn.assay_status", answer.status)
end

core.register_action("assay", { "http-req" }, ask, 1)
