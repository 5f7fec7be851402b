import { type SilenceWatch, watchSilence } from '../../wire/idle-watch.ts'
import { GENERATE_CONTENT } from '../api/gemini-endpoints.ts'

/** Longest silence towards the client of a stream, in milliseconds: many proxies close a silent one after 60 s. */
const LONGEST_SILENCE_MS = 15_000
/** Time after which {@link watchSilence} may notice a silence, at most. */
const NOTICED_MS = 1000

/** Creates the heartbeats of the streams of a process, with one timer for all. */
export const watchHeartbeats = (): SilenceWatch => watchSilence(LONGEST_SILENCE_MS - NOTICED_MS)

/** A comment, which every event reader ignores (https://html.spec.whatwg.org/#parsing-an-event-stream). */
const COMMENT = ': keepalive\n\n'
/** Anthropic's own heartbeat (https://docs.claude.com/en/docs/build-with-claude/streaming). */
const PING = 'event: ping\ndata: {"type":"ping"}\n\n'

/** White space: the readers of Google's SDKs stop at comments (`@google/genai` before 2.0, which Gemini CLI has). */
const SPACE = '\n'

/** Heartbeats of endpoints whose clients do not read over comments. */
const BEATS: ReadonlyMap<string, string> = new Map([
  ['/messages', PING],
  [GENERATE_CONTENT, SPACE],
])

/** Event by which the client of a stream hears something. */
export const beatOf = (endpoint: string): string => BEATS.get(endpoint) ?? COMMENT
