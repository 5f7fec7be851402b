import type { Place, WorkContext } from '../../src/context/context.ts'
import type { Question } from './questions.ts'

/** Budgets in tokens with which the lines are looked for, and the share of questions that have to show them, in percent. */
export const BUDGETS = [2000, 8000] as const
type Budget = (typeof BUDGETS)[number]
export const LINES_BARS: Readonly<Record<Budget, number>> = { 2000: 85, 8000: 92.5 }

/** By budget, whether a line that answers is in an excerpt of a right file. */
export type Shown = Record<Budget, boolean>

/** Asks for the work context of a question with each budget; null where no line is known. */
export async function shownLines(
  { ask, files }: Question,
  contextOf: (maxTokens: Budget) => Promise<WorkContext>,
): Promise<Shown | null> {
  const lines = NEEDED_LINES[ask]
  if (lines === undefined) return null
  const isShown = async (budget: Budget) => {
    const excerpts = allPlaces((await contextOf(budget)).places).flatMap(({ path, excerpt }) =>
      excerpt !== undefined && files.includes(path.replace(/#L\d+-L\d+$/, '')) ? [excerpt] : [],
    )
    return excerpts.some((excerpt) => lines.some((line) => excerpt.includes(line)))
  }
  return { 2000: await isShown(2000), 8000: await isShown(8000) }
}

const allPlaces = (places: readonly Place[]): Place[] =>
  places.flatMap((place) => [place, ...allPlaces(place.children ?? [])])

/**
 * Lines of code that answer a question: of each question about code, parts of lines of which one has to be visible in an excerpt.
 * Written before the search was asked any of the questions for its excerpts.
 */
const NEEDED_LINES: Readonly<Record<string, readonly string[]>> = {
  // cobra
  'How is a similar command suggested when the user mistypes one?': [
    'levenshteinDistance := ld(',
    'SuggestionsMinimumDistance = 2',
  ],
  'Which validators limit the number of positional arguments?': [
    'func MinimumNArgs(n int)',
    'func RangeArgs(',
    'func MaximumNArgs(',
    'func ExactArgs(',
  ],
  'How are flags marked as mutually exclusive?': ['SetAnnotation(v, mutuallyExclusive'],
  'Where is the completion script for PowerShell generated?': [
    'func genPowerShellComp(',
    'func (c *Command) genPowerShellCompletion(',
  ],
  'How can a program print hints to the user while completing?': ['func AppendActiveHelp('],
  'Where are man pages written from a tree of commands?': ['func GenManTreeFromOpts(', 'func GenManTree('],
  'What happens on Windows when the program is started by a double click in the explorer?': [
    'mousetrap.StartedByExplorer()',
  ],
  // jq
  'How is backtracking done when the bytecode runs?': [
    'uint16_t* pc = stack_restore(jq);',
    'struct forkpoint* fork = stack_block(',
    'goto do_backtrack;',
  ],
  'Where are arrays and objects reference counted?': [
    'static void jvp_refcnt_inc(',
    'static int jvp_refcnt_dec(',
    'jvp_array_free(',
  ],
  'How is JSON text parsed piece by piece?': ['static pfunc scan(', 'jv jv_parser_next('],
  'Where are the colors of the output set?': ['jq_set_colors(const char', 'color_bufps[i] = def_colors[i]'],
  'How are modules and imports searched for and loaded?': [
    'static jv find_lib(',
    'static int load_library(jq_state *jq, jv lib_path',
  ],
  'Where are functions such as strftime or regex matching provided?': ['static jv f_strftime(', 'static jv f_match('],
  'How are options like --slurp and --arg read from the command line?': [
    '"slurp", &short_opts',
    'isoption(argv[i], 0, "arg"',
  ],
  'Where is invalid UTF-8 replaced?': ['c = 0xFFFD;', 'const char* jvp_utf8_next('],
  // express
  'How is a path matched against a route pattern and its parameters decoded?': [
    'match = this.regexp.exec(path)',
    'decodeURIComponent(val)',
  ],
  'Where is a template rendered and its engine looked up?': [
    'this.engine = opts.engines[this.ext]',
    'this.engine(this.path, options',
  ],
  'How are cookies set on the response?': ["this.append('Set-Cookie', cookie.serialize"],
  'How does trusting a proxy change the IP address of the client?': [
    'return proxyaddr(this, trust)',
    'proxyaddr.all(this, trust)',
    'exports.compileTrust = function',
  ],
  'Where is error handling middleware with four arguments called?': ['if (fn.length !== 4)'],
  'How is chosen between weak and strong etags?': ['exports.compileETag = function', 'fn = exports.wetag'],
  'How is the query string parsed?': [
    'req.query = queryparse(',
    'exports.compileQueryParser = function',
    'fn = parseExtendedQueryString',
  ],
  'Where is the content type negotiated by the Accept header?': [
    'var accept = accepts(this)',
    'accept.types.apply',
    'req.accepts(keys)',
  ],
  // sidekiq
  'How long does a failed job wait before it is retried?': ['delay = delay_for(', 'def delay_for('],
  'How are jobs taken from the queues by weight?': ['permute = @queues.shuffle'],
  'How are the threads of a process stopped at shutdown?': ['def stop(deadline)', 'def hard_shutdown'],
  'Where are jobs that were planned for the future moved to their queue?': [
    'Sidekiq::Client.push(Sidekiq.load_json(job))',
  ],
  'How is the heartbeat of a process written to Redis?': ['def start_heartbeat', 'hmset(key'],
  'Where is the size of the connection pool decided?': ['Sidekiq.options[:concurrency] + 5'],
  'How are many jobs pushed in bulk?': ['raw_push(payloads) unless'],
  'How is middleware inserted before or after another one?': ['def insert_before(', 'def insert_after('],
  // jinja2
  'How is the compiled bytecode of templates cached?': [
    'def write_bytecode(self, f',
    'def load_bytecode(self, f',
    'def load_bytecode(self, bucket: Bucket)',
  ],
  'How is a template kept from calling unsafe methods?': ['def is_safe_callable(', 'getattr(obj, "unsafe_callable"'],
  'Where are templates found in the file system or in a package?': [
    'f = open_if_exists(filename)',
    'package_path = os.path.normpath(',
    'pieces = split_template_path(template)',
  ],
  'How are constant expressions folded when a template is compiled?': ['node.as_const(args[0]'],
  'How are tracebacks rewritten so that they show the line of the template?': [
    'template.get_corresponding_lineno(tb.tb_lineno)',
  ],
  'Where does access to an undefined variable become an error?': [
    'raise self._undefined_exception(',
    'return self._fail_with_undefined_error()',
  ],
  'How is whitespace around blocks trimmed in the tokenizer?': [
    'stripped = text.rstrip()',
    'self.lstrip_blocks = environment.lstrip_blocks',
  ],
  'How are messages for translation extracted from templates?': ['def extract_from_ast(', 'def babel_extract('],
  // fzf
  'How do the goroutines wait for each other and pass on signals?': ['b.cond.Wait()'],
  'Where is the score bonus for camel case and word boundaries computed?': ['func bonusFor(', 'return bonusCamel123'],
  'How are accented letters reduced to plain ones for matching?': ['func NormalizeRunes(', 'ret[idx] = normalized[r]'],
  'Where are escape sequences for colours in the input parsed?': [
    'func extractColor(',
    'func interpretCode(',
    'func nextAnsiEscapeSequence(',
  ],
  'How can another process send actions to a running finder over the network?': [
    'func startHttpServer(',
    'channel <- actions',
    'func handleHttpRequest(',
  ],
  'Which system calls does it give up on OpenBSD?': ['unix.PledgePromises('],
  'How are earlier queries saved and browsed?': [
    'func (h *History) append(',
    'func (h *History) previous(',
    'func NewHistory(',
  ],
  'How are the lists that worker threads sorted brought together into one?': [
    'compareRanks(rank, minRank',
    'func NewMerger(',
  ],
  'Where are search operators such as ^ and ! and quotes interpreted?': [
    'strings.HasPrefix(text, "!")',
    'typ = termPrefix',
  ],
  'How is a line split into fields by a delimiter?': ['func Tokenize(text string, delimiter'],
  // jsoup
  'Where is untrusted HTML stripped of scripts and unwanted attributes?': [
    'safelist.isSafeAttribute(sourceTag',
    'safelist.isSafeTag(sourceEl',
    'public Document clean(Document',
  ],
  'How is the character set of a page detected?': [
    'detectCharsetFromBom(firstBytes)',
    'doc.select("meta[http-equiv=content-type]',
    'private static @Nullable BomCharset detectCharsetFromBom(',
  ],
  'How are CSS queries turned into evaluators?': [
    'private void combinator(char',
    'private void findElements()',
    'Evaluator parse() {',
  ],
  'Where are named character references such as &nbsp; escaped and unescaped?': [
    'static void escape(Appendable',
    'private static void appendEncoded(',
    'public static String escape(String',
  ],
  'How are cookies stored between requests?': ['req.cookieManager().get(asUri(', 'static void storeCookies('],
  'Where is the line and column of an element recorded?': ['public void track(', 'int lineNumber(int pos)'],
  'How is a parsed document converted to the DOM of the JDK?': [
    'public void convert(org.jsoup.nodes.',
    'doc.createElementNS(',
    'public static Document convert(org.jsoup',
  ],
  'How is the size of a downloaded body limited?': [
    'capped = maxSize != 0',
    'if (capped && len > remaining)',
    'req.maxBodySize(bytes)',
  ],
  'How are the inputs of a form collected for submission?': [
    'public List<Connection.KeyVal> formData()',
    'ArrayList<Connection.KeyVal> data',
  ],
  'Which tags are self closing or block level?': [
    'private static final String[] blockTags',
    'private static final String[] emptyTags',
    'return empty || selfClosing;',
  ],
  // viem
  'How is a nonce chosen when several transactions are sent at once?': [
    'const delta = deltaMap.get(key)',
    'deltaMap.set(key, delta + 1)',
  ],
  'Where are several reads put together into one multicall?': [
    'chunkedCalls[currentChunk] = [',
    'createBatchScheduler({',
  ],
  'How does it try another RPC endpoint when one fails?': ['return fetch(i + 1)'],
  'How is a dropped web socket connection opened again?': ['reconnectCount < attempts', 'function attemptReconnect()'],
  'How are names of the name service normalized?': ['export function normalize(name'],
  'Where is decided after how long a failed request is repeated?': [
    "headers?.get('Retry-After')",
    "typeof delay_ === 'function'",
  ],
  'How are identical requests in flight merged?': ['if (promiseCache.get(id)) return'],
  'Where is it checked that an address has the right checksum?': [
    'checksumAddress(address as Address) === address',
    'export function checksumAddress(',
  ],
  'How are contract errors with a custom reason decoded?': [
    'const signature = slice(data, 0, 4)',
    'decodedData = decodeErrorResult(',
    'new ContractFunctionRevertedError({',
  ],
  'How is it noticed that a pending transaction was replaced or sped up?': [
    'from === replacedTransaction!.from',
    "reason = 'repriced'",
  ],
  // node-gyp
  'How is the Python interpreter found?': ['check: () => this.checkCommand(', 'async findPython ()'],
  'Where is the installed Visual Studio looked up?': [
    'async findVisualStudio ()',
    'this.findVisualStudio2019OrNewer()',
    'async findVisualStudio2017UsingSetupModule ()',
  ],
  'Where are Makefiles written?': ['class MakefileWriter', 'def Write(', 'def GenerateOutput('],
  'How are conditions in the build description evaluated and merged?': [
    'def EvalCondition(',
    'def EvalSingleCondition(',
    'def ProcessConditionsInDict(',
  ],
  'How are downloaded headers checked against their hashes?': [
    'const expectShasums = {}',
    'contentShasums[filename] = checksum',
    'contentShasums[k] !== expectShasums[k]',
  ],
  'How are property lists copied into an application bundle on macOS?': [
    'def ExecCopyInfoPlist(',
    'plistlib.readPlistFromString(',
  ],
  'How is a circle of dependent targets found?': ['def FindCycles(', 'def VerifyNoGYPFileCircularDependencies('],
  'How is XML text pretty printed for project files?': ['def _ConstructContentList(', 'def XmlToString('],
  'How does it lock a file so that only one linker runs at a time?': ['def ExecFlock(', 'def _UseSeparateMspdbsrv('],
  'Where is the proxy for downloads chosen?': ['opts.httpProxy = gyp.opts.proxy', 'const hasProxyEnv ='],
  // redis
  'How is the key to evict chosen when the memory limit is reached?': [
    'bestkey = dictGetKey(de);',
    'evictionPoolPopulate(i, dict',
  ],
  'How are expired keys sampled and deleted in the background?': [
    'while (sampled < num && checked_buckets',
    'activeExpireCycleTryExpire(db,e,now)) expired++',
  ],
  'Where is a hash table rehashed in small steps?': ['int empty_visits = n*10;', 'd->rehashidx++;'],
  'When does the append only file get rewritten by itself?': ['growth >= server.aof_rewrite_perc'],
  'How does a replica ask its master for a partial resynchronization?': [
    'sendCommand(conn,"PSYNC"',
    'psync_replid = server.cached_master->replid',
  ],
  'How is a sorted set turned from a listpack into a skip list?': [
    'void zsetConvert(robj',
    'zsetConvert(zobj,OBJ_ENCODING_SKIPLIST)',
  ],
  'How are blocked clients served when an element is pushed to a list?': [
    'void serveClientsBlockedOnListKey(robj *o, readyList *rl) {',
    'serveClientBlockedOnList(receiver, o',
    'while(listLength(server.ready_keys) != 0)',
  ],
  'Where is the slot of a key with a hash tag computed?': [
    'return crc16(key+s+1,e-s-1) & 0x3FFF',
    'unsigned int keyHashSlot(',
  ],
  'How are clients that read too slowly disconnected by their output buffer?': [
    'c->obuf_soft_limit_reached_time = server.unixtime',
    'if (checkClientOutputBufferLimits(c))',
  ],
  'How does sentinel vote for a leader of the failover?': ['if (master->leader_epoch < req_epoch'],
  // restic
  'How is the file content cut into chunks and saved?': ['chunk, err := chnker.Next('],
  'Which snapshots does a policy keep when old ones are forgotten?': ['if b.Count > 0 {', 'func ApplyPolicy('],
  'How is the key for encryption derived from the password?': ['scrypt.Key([]byte(password)', 'crypto.KDF('],
  'How is a stale lock of the repository recognized?': ['time.Since(l.Time) > staleTimeout'],
  'How are unused blobs found and removed by prune?': ['func planPrune(', 'usedBlobs.Has(', 'func doPrune('],
  'How does it retry operations of the backend that fail?': ['backoff.RetryNotify(f'],
  'Where are exclude patterns matched against paths?': ['filepath.Match(pattern.parts[i].pattern'],
  'How are hard links restored?': ['idx.Has(node.Inode, node.DeviceID)', 'restoreHardlinkAt(node *restic.Node'],
  'How is the header of a pack file written?': ['header, err := p.makeHeader()', 'func (p *Packer) makeHeader('],
  'How is it decided that a file has not changed since the parent snapshot?': ['!fi.ModTime().Equal(node.ModTime)'],
  // undici
  'How are redirects followed and sensitive headers removed?': [
    "name === 'authorization' || name === 'cookie'",
    'cleanRequestHeaders(this.opts.headers',
  ],
  'After what time is a failed request tried again?': ['timeoutFactor ** (counter - 1)'],
  'Which connection of the balanced pool gets the next request?': [
    'find pool index with the largest weight',
    'maxWeightIndex = this[kIndex]',
  ],
  'How is decided which hosts bypass the proxy?': ["this.#noProxyValue === '*'"],
  'Where are header names checked for invalid characters?': [
    'function isValidHTTPToken (',
    '!isValidHTTPToken(headerName)',
    'function isValidHeaderValue (',
  ],
  'How are TLS sessions reused for later sockets?': [
    'sessionCache.get(sessionKey) || null',
    'const ref = this._sessionCache.get(sessionKey)',
  ],
  'How is a multipart form parsed?': ['function multipartFormDataParser (', 'entryList.push(makeEntry('],
  'How are frames of a web socket masked?': ['frameData[i] ^ maskKey[i & 3]', 'function generateMask ('],
  'How is the freshness of a stored response decided by the cache?': [
    'function needsRevalidation (',
    'function determineStaleAt (',
    'if (now > result.staleAt)',
  ],
  'How is a response body limited when it is dumped?': [
    'contentLength > this.#maxSize',
    'this[kContentLength] > limit',
  ],
  // mongodb
  'How are idle connections removed and the minimum of the pool kept?': [
    'private ensureMinPoolSize()',
    'private connectionIsIdle(',
    'private destroyConnectionIfPerished(',
  ],
  'How are servers picked by their round trip time?': [
    'server.roundTripTime <= high',
    'function latencyWindowReducer(',
  ],
  'How does a transaction get retried after a transient error?': [
    'fnError.hasErrorLabel(MongoErrorLabel.TransientTransactionError)',
  ],
  'Which errors make a write retryable?': [
    'RETRYABLE_WRITE_ERROR_CODES.has(',
    'export function isRetryableWriteError(',
    'export function needsRetryableWriteLabel(',
  ],
  'How is a change stream resumed after an error?': ['private async _resume(', 'await this._resume(changeStreamError)'],
  'How is the proof of the SCRAM login computed?': ['xor(clientKey, clientSignature)'],
  'How are SRV records looked up and checked?': [
    'export async function resolveSRVRecord(',
    'checkParentDomainMatch(name, lookupAddress)',
    'srvRecords = await',
  ],
  'How are bulk operations split into batches by size?': ['maxKeySize + bsonSize >= this.s.maxBatchSizeBytes'],
  'How are the chunks of an uploaded file written and its index made?': [
    'function doWrite(',
    'async function checkChunksIndex(',
    'stream.chunks.createIndex(',
  ],
  'How is a newer primary told from a stale one by its election id?': [
    'compareObjectId(maxElectionId, electionId) > 0',
    'const maxElectionIdIsEqual',
    'maxElectionId = serverDescription.electionId',
  ],
}
