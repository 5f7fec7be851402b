import * as z from 'zod'

/**
 * Figures of a place. They omit the time of attention and the language: `why` and the path show both, and each
 * signal costs tokens for every place.
 */
const PlaceSignals = z.object({
  dwell_ms: z
    .number()
    .min(0)
    .optional()
    .describe('Attention on this file or region in milliseconds; absent without any.'),
  git: z
    .string()
    .optional()
    .describe('Uncommitted state: modified, added, untracked, renamed, deleted, conflicted; absent when clean.'),
  size: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Bytes of the file; for a directory, the number of files below it. Absent for a region.'),
})
type PlaceSignals = z.infer<typeof PlaceSignals>

/** Drops the signals that are null or 0. */
export function signalsOf(known: { [Name in keyof PlaceSignals]: PlaceSignals[Name] | null }): PlaceSignals {
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null && value !== 0))
}

/**
 * A directory, a file, or a range of lines of a file (`src/a.ts#L10-L20`), with its degree of interest and the reasons.
 */
export const Place = z.object({
  path: z.string().describe('Relative to the root, with forward slashes; a region ends #L<first>-L<last>.'),
  kind: z.enum(['directory', 'file', 'region']),
  weight: z
    .number()
    .min(0)
    .max(1)
    .describe('Interest relative to the top place, which has 1. A directory has that of its top part.'),
  why: z.array(z.string()).describe('The reasons for the weight, in plain words.'),
  signals: PlaceSignals,
  excerpt: z
    .string()
    .optional()
    .describe('The lines of the region, or the head of the file. Never of files that look like secrets.'),
  get children(): z.ZodOptional<z.ZodArray<typeof Place>> {
    return z.array(Place).optional()
  },
})
export type Place = z.infer<typeof Place>

/** A memory as the work context shows it. */
export const ContextMemory = z.object({
  key: z.string(),
  namespace: z.string(),
  value: z.unknown().describe('The stored value; its first characters, as text, when `cut` is true.'),
  cut: z.literal(true).optional(),
  tags: z.array(z.string()).optional().describe('Absent when it has none.'),
  updated_at: z.string(),
})
export type ContextMemory = z.infer<typeof ContextMemory>

/** Context for a model before it starts: places with attention or changes, and memories. */
export const WorkContext = z.object({
  root: z
    .string()
    .describe('The absolute path that the places are relative to, links resolved; the end of a very long one.'),
  generated_at: z.string(),
  notice: z.string(),
  notes: z.array(z.string()).describe('What could not be read, in plain words; empty if nothing failed.'),
  places: z.array(Place).describe('A tree, most interesting first.'),
  memories: z.array(ContextMemory),
  tokens: z
    .number()
    .int()
    .min(0)
    .describe('Tokens of this result as compact JSON (cl100k_base); never over max_tokens.'),
  truncated: z.boolean().describe('True when a place with weight, a memory, or part of the tree was omitted.'),
})
export type WorkContext = z.infer<typeof WorkContext>
