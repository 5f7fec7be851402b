/** Version, trace id, parent span id, flags, and fields of later versions (W3C Trace Context, section 3.2). */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[\x21-\x7e]*)?$/
/** Longest context that is passed on, in characters: those of later versions may be longer than 55. */
const LONGEST = 512

/** Trace and span of a caller. */
export interface TraceParent {
  traceId: string
  spanId: string
  flags: number
}

/** Reads a `traceparent`. Null for one that is not valid, with which a trace begins. */
export function readTraceparent(text: string | undefined): TraceParent | null {
  if (text === undefined || text.length > LONGEST) return null
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text) ?? []
  // Version 00 has four parts; ff is not a version.
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}
