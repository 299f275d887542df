import type { Result, Valkey } from "iovalkey";

/**
 * The answer of a script. The levels are decimal numbers: requests and tokens of the key, then of all keys together, after
 * the call.
 */
export type BucketLevels = readonly [isTaken: 0 | 1, ...levels: readonly [string, string, string, string]];

type Argument = string | number;

declare module "iovalkey" {
  interface RedisCommander<Context> {
    parleyLevels(...args: readonly Argument[]): Result<BucketLevels, Context>;
    parleyTake(...args: readonly Argument[]): Result<BucketLevels, Context>;
    parleyTakeTokens(...args: readonly Argument[]): Result<BucketLevels, Context>;
    parleyEnd(...args: readonly Argument[]): Result<null, Context>;
    parleyRenew(count: number, ...args: readonly Argument[]): Result<null, Context>;
  }
}

/** ARGV[1]: the time in milliseconds, which only tests give. Servers send "", and the store's clock counts. */
const clock = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call("TIME")
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/**
 * KEYS[1], KEYS[2]: the buckets of the key and of all keys. ARGV[2] to ARGV[5]: their limits, requests before tokens. The
 * formulas are those of `TokenBucket`. A bucket is five doubles: the time, the requests at that time and their limit, and the
 * same of the tokens. A caller with other limits finds the same part of the bucket left.
 */
const buckets = `${clock}
local function read(name, requestLimit, tokenLimit)
  local saved = redis.call("GET", name)
  local at, requests, ofRequests, tokens, ofTokens = now, requestLimit, requestLimit, tokenLimit, tokenLimit
  if saved then at, requests, ofRequests, tokens, ofTokens = struct.unpack("ddddd", saved) end
  -- A clock may be set back, for instance by a failover. Without this line, the bucket would refill only once it has caught up.
  if at > now then redis.call("SET", name, struct.pack("ddddd", now, requests, ofRequests, tokens, ofTokens), "KEEPTTL") end
  local gainedMs = math.max(0, now - at)
  local function level(before, limitBefore, limit)
    local now = math.min(limitBefore, before + gainedMs * limitBefore / 60000)
    if limitBefore == limit then return now end
    return now * limit / limitBefore
  end
  return {
    name = name, requestLimit = requestLimit, tokenLimit = tokenLimit,
    requests = level(requests, ofRequests, requestLimit), tokens = level(tokens, ofTokens, tokenLimit),
  }
end

local own = read(KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3]))
local overall = read(KEYS[2], tonumber(ARGV[4]), tonumber(ARGV[5]))

local function exact(number) return string.format("%.17g", number) end

local function answer(isTaken)
  return { isTaken, exact(own.requests), exact(own.tokens), exact(overall.requests), exact(overall.tokens) }
end

local function changeOne(bucket, requests, tokens)
  bucket.requests = math.min(bucket.requestLimit, bucket.requests - requests)
  bucket.tokens = math.min(bucket.tokenLimit, bucket.tokens - tokens)
  local missing = math.max(1 - bucket.requests / bucket.requestLimit, 1 - bucket.tokens / bucket.tokenLimit)
  -- It is full when it expires: a bucket that does not exist is full.
  local lifeMs = string.format("%.0f", missing * 60000 + 60000)
  local saved = struct.pack("ddddd", now, bucket.requests, bucket.requestLimit, bucket.tokens, bucket.tokenLimit)
  redis.call("SET", bucket.name, saved, "PX", lifeMs)
end

local function change(requests, tokens)
  changeOne(own, requests, tokens)
  changeOne(overall, requests, tokens)
end
`;

/** KEYS[3]: the places of the key. KEYS[4]: the lease. ARGV[6]: maximum concurrent requests or "". ARGV[7], ARGV[8]: see renew. */
const take = `${buckets}
local expiry = exact(now + ARGV[7])
local expired = exact(now)
local bound = tonumber(ARGV[6])
-- A clock that was set back leaves expiries in the far future. Their places are free, too.
local isFull = bound and redis.call("ZCOUNT", KEYS[3], "(" .. expired, expiry) >= bound
if own.requests < 1 or overall.requests < 1 or isFull then return answer(0) end
change(1, 0)
redis.call("ZREMRANGEBYSCORE", KEYS[3], "-inf", expired)
redis.call("ZREMRANGEBYSCORE", KEYS[3], "(" .. expiry, "+inf")
redis.call("ZADD", KEYS[3], expiry, KEYS[4])
redis.call("PEXPIRE", KEYS[3], ARGV[8])
redis.call("SET", KEYS[4], 0, "PX", ARGV[8])
return answer(1)
`;

/** KEYS[3]: the lease, which keeps the number of tokens taken. ARGV[6]: the tokens. ARGV[7]: its life in milliseconds. */
const takeTokens = `${buckets}
local wanted = tonumber(ARGV[6])
if own.tokens < wanted or overall.tokens < wanted then return answer(0) end
change(0, wanted)
redis.call("SET", KEYS[3], ARGV[6], "PX", ARGV[7])
return answer(1)
`;

/** KEYS[3]: the places of the key. KEYS[4]: the lease. ARGV[6]: requests to give back. ARGV[7]: the tokens used. */
const end = `${buckets}
local taken = redis.call("GET", KEYS[4])
redis.call("DEL", KEYS[4])
redis.call("ZREM", KEYS[3], KEYS[4])
if taken then change(-ARGV[6], ARGV[7] - taken) end
`;

/**
 * KEYS: places and lease of each request that runs. ARGV[2]: milliseconds until a place expires. ARGV[3]: the life of a
 * lease, which is longer. A lease that the store has lost, for instance because it was flushed, is created again.
 */
const renew = `${clock}
for i = 1, #KEYS, 2 do
  redis.call("ZADD", KEYS[i], string.format("%.17g", now + ARGV[2]), KEYS[i + 1])
  redis.call("PEXPIRE", KEYS[i], ARGV[3])
  if not redis.call("SET", KEYS[i + 1], 0, "NX", "PX", ARGV[3]) then redis.call("PEXPIRE", KEYS[i + 1], ARGV[3]) end
end
`;

/** Adds the scripts to a client, as commands. Each is atomic in the store. */
export function defineLimitScripts(client: Valkey): void {
  client.defineCommand("parleyLevels", { numberOfKeys: 2, lua: `${buckets} return answer(0)` });
  client.defineCommand("parleyTake", { numberOfKeys: 4, lua: take });
  client.defineCommand("parleyTakeTokens", { numberOfKeys: 3, lua: takeTokens });
  client.defineCommand("parleyEnd", { numberOfKeys: 4, lua: end });
  client.defineCommand("parleyRenew", { lua: renew });
}
