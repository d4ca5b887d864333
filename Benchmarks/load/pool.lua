-- The requests of a pool, one after the other. Environment: POOL, a file; POOL_PATH, where its lines are posted as
-- JSON; POOL_BEARER, if they are tokens for an Authorization header of a GET; POOL_FIELDS, if they are header fields of
-- a GET, with tabs between them; POOL_SHARES, if each line can be sent only once: the
-- number of threads, each of which takes its share of the lines.
local threads = {}
local now = function() return 0 end

function setup(thread)
    thread:set("number", #threads)
    threads[#threads + 1] = thread
end

function init(args)
    requests = {}
    local path = os.getenv("POOL_PATH")
    local bearer = os.getenv("POOL_BEARER") ~= ""
    local has_fields = os.getenv("POOL_FIELDS") ~= ""
    shares = tonumber(os.getenv("POOL_SHARES"))
    local line_number = 0
    for line in io.lines(os.getenv("POOL")) do
        line_number = line_number + 1
        if shares and line_number % shares ~= number then
            -- Another thread's.
        elseif bearer then
            requests[#requests + 1] = wrk.format("GET", path, { ["Authorization"] = "Bearer " .. line })
        elseif has_fields then
            local fields = {}
            for name, value in line:gmatch("([^\t:]+): ([^\t]+)") do
                fields[name] = value
            end
            requests[#requests + 1] = wrk.format("GET", path, fields)
        else
            requests[#requests + 1] = wrk.format("POST", path, { ["Content-Type"] = "application/json" }, line)
        end
    end
    if shares then
        position = 0
        now = clock()
    else
        -- Threads start at different places, so that a token is not asked for twice in a row.
        position = (number * 503) % #requests
    end
end

function request()
    if shares then
        return request_once()
    end
    position = position % #requests + 1
    return requests[position]
end

function request_once()
    -- Before it starts, wrk takes a request from the first thread that it only parses; that line is never sent.
    if position < 2 then
        began = now()
    elseif position == #requests then
        -- Nothing is sent, so this connection stays silent until the time is up.
        ended = ended or now()
        return ""
    end
    position = position + 1
    return requests[position]
end

-- Seconds of the monotonic clock. LuaJIT's own clock counts CPU time.
function clock()
    local ffi = require("ffi")
    ffi.cdef("struct now { long seconds, nanoseconds; }; int clock_gettime(int, struct now *);")
    local moment = ffi.new("struct now")
    return function()
        ffi.C.clock_gettime(1, moment)
        return tonumber(moment.seconds) + tonumber(moment.nanoseconds) / 1e9
    end
end

-- wrk divides by the whole time, also if a pool was used up before.
function done(summary, latency, requests)
    local first, last = math.huge, 0
    for _, thread in ipairs(threads) do
        if not thread:get("ended") then
            return
        end
        first = math.min(first, thread:get("began"))
        last = math.max(last, thread:get("ended"))
    end
    print(string.format("Pool used up in %.6f s", last - first))
end
