-- POST /v1/verify with a pool of distinct tokens, one after the other. Environment: TOKENS, a file of mint.py's.
local thread_count = 0

function setup(thread)
    thread:set("number", thread_count)
    thread_count = thread_count + 1
end

function init(args)
    requests = {}
    for line in io.lines(os.getenv("TOKENS")) do
        local token, nonce = line:match("^(%S+)\t(%S+)$")
        requests[#requests + 1] = wrk.format("POST", "/v1/verify", { ["Content-Type"] = "application/json" },
            '{"provider":"apple","id_token":"' .. token .. '","nonce":"' .. nonce .. '"}')
    end
    -- Threads start at different places, so that a token is not asked for twice in a row.
    position = (number * 503) % #requests
end

function request()
    position = position % #requests + 1
    return requests[position]
end
