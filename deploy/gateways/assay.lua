-- The action `lua.assay URL` asks Assay about a request. It sets `txn.assay_status` to the status of the answer, or leaves it
-- unset. On 200, it copies the identity headers to the request. The rules after it in haproxy.cfg decide.

-- In milliseconds. With opaque tokens in the policy, 1200: 200 more than `forward_auth.introspection_timeout`.
local TIMEOUT = 200
local SENT = { "authorization", "cookie" }
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
    for _, name in ipairs(SENT) do
        if received[name] then
            headers[name] = values(received[name])
        end
    end
    if KEY then
        headers["x-assay-key"] = { KEY }
    end

    local answer = core.httpclient():get({ url = url, headers = headers, timeout = TIMEOUT })
    if answer.status == 200 then
        for name, list in pairs(answer.headers) do
            if name:find(COPIED) then
                txn.http:req_set_header(name, list[0])
            end
        end
    elseif answer.status == 401 then
        txn:set_var("txn.assay_challenge", answer.headers["www-authenticate"][0])
    end
    txn:set_var("txn.assay_status", answer.status)
end

core.register_action("assay", { "http-req" }, ask, 1)
