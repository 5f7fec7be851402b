import * as z from 'zod'

/** Source of a measurement, from the most to the least direct. */
export const GazeSource = z
  .enum(['eye_tracker', 'webcam', 'ide', 'pointer', 'manual'])
  .describe('Source of the measurement.')
export type GazeSource = z.infer<typeof GazeSource>

/**
 * An RFC 3339 date-time with an offset, from 1970 and before the year 9999. It is converted to UTC with milliseconds,
 * so that times sort as strings.
 */
export const GazeTime = z.iso
  .datetime({ offset: true, abort: true, error: 'must be an RFC 3339 date-time with an offset' })
  .overwrite((time) => new Date(time).toISOString())
  .refine((time) => time >= '1970' && time < '9999', 'must be from 1970 and before the year 9999')

/** Path of a file or folder. A leading `./` is removed, so that `./a` and `a` are the same path. */
export const GazePath = z
  .string()
  .min(1)
  .max(4096)
  .overwrite((path) => path.replace(/^(?:\.\/+)+(?=[^/])/, ''))

const share = z.number().min(0).max(1)
const line = z.int().min(1).max(10_000_000)

/**
 * The three channels of one stretch of attention, its time and its confidence. What was not measured is absent. Unknown
 * fields are errors.
 */
export const GazeTensor = z.strictObject({
  at: GazeTime.describe('When it began: RFC 3339 with an offset.'),
  dwell_ms: z.number().min(0).max(60_000).overwrite(Math.round).describe('How long it lasted; 0: a raw sample.'),
  source: GazeSource,
  confidence: share.optional().describe('How sure the source is.'),
  cog: z
    .strictObject({ focus: share.optional(), load: share.optional() })
    .optional()
    .describe('Focus and cognitive load.'),
  emo: z
    .strictObject({ valence: z.number().min(-1).max(1).optional(), arousal: share.optional() })
    .optional()
    .describe('Valence from unpleasant to pleasant, and arousal.'),
  env: z
    .strictObject({
      path: GazePath.optional().describe('File or folder, absolute or relative to the project.'),
      line_start: line.optional().describe('First line looked at.'),
      line_end: line.optional().describe('Last line looked at.'),
      url: z.string().min(1).max(4096).optional(),
      app: z.string().min(1).max(256).optional(),
      device: z.string().min(1).max(256).optional(),
      x: share.optional().describe('Position on the screen, from the left.'),
      y: share.optional().describe('Position on the screen, from the top.'),
      pupil_mm: z.number().min(0).max(100).optional().describe('Pupil diameter.'),
      distraction: share.optional().describe('How distracting the surroundings are.'),
    })
    .refine((env) => env.line_end === undefined || (env.line_start ?? Number.POSITIVE_INFINITY) <= env.line_end, {
      path: ['line_end'],
      error: 'needs a line_start that is not after it',
    })
    .describe('Where the attention was.'),
})
export type GazeTensor = z.infer<typeof GazeTensor>

/** A tensor as clients send it: what was not measured may also be null. */
export const SentTensor = z.preprocess(withoutNulls, GazeTensor)

/** Removes `confidence`, `cog`, `emo` and fields of the two that are null. */
function withoutNulls(sent: unknown): unknown {
  if (typeof sent !== 'object' || sent === null) return sent
  const tensor: Record<string, unknown> = { ...sent }
  for (const name of ['confidence', 'cog', 'emo']) {
    const value = tensor[name]
    if (value === null) delete tensor[name]
    else if (typeof value === 'object' && !Array.isArray(value))
      tensor[name] = Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null))
  }
  return tensor
}

/** A stored tensor. `seq` is its position in the session's hash chain, from 1. */
export const GazeRecord = GazeTensor.extend({
  id: z.string(),
  session_id: z.string(),
  task_id: z.string().nullable(),
  seq: z.int().min(1),
  hash: z.string().describe('SHA-256 over the hash of the record before it in the session and this record.'),
})
export type GazeRecord = z.infer<typeof GazeRecord>

/** Parses a tensor from the store, which holds only JSON that `GazeTensor` accepted. */
export function readTensor(json: string): GazeTensor {
  return JSON.parse(json) as GazeTensor
}
