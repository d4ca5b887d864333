-- The requests of a pool, one after the other. Environment: POOL, a file; POOL_PATH, where its lines are posted as
-- JSON, or nothing if they are tokens for an Authorization header.
local thread_count = 0

function setup(thread)
    thread:set("number", thread_count)
    thread_count = thread_count + 1
end

function init(args)
    requests = {}
    local path = os.getenv("POOL_PATH")
    for line in io.lines(os.getenv("POOL")) do
        if path == "" then
            requests[#requests + 1] = wrk.format("GET", "/", { ["Authorization"] = "Bearer " .. line })
        else
            requests[#requests + 1] = wrk.format("POST", path, { ["Content-Type"] = "application/json" }, line)
        end
    end
    -- Threads start at different places, so that a token is not asked for twice in a row.
    position = (number * 503) % #requests
end

function request()
    position = position % #requests + 1
    return requests[position]
end
