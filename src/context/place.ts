import { z } from 'zod'

/** What is known about a place, whatever its weight. */
const PlaceSignals = z.object({
  dwell_ms: z.number().min(0).describe('Attention on this place, or inside it, in milliseconds.'),
  last_seen_at: z.string().nullable().describe('When attention was last here; null when it never was.'),
  git: z
    .string()
    .nullable()
    .describe('Uncommitted state: modified, added, untracked, renamed, deleted, conflicted; null when clean.'),
  size: z
    .number()
    .int()
    .min(0)
    .describe('Bytes of the file (a region has its file’s); for a directory, the number of files below it.'),
  language: z.string().nullable().describe('By file extension; null when unknown.'),
})

/** A directory, a file, or a range of lines of a file (`src/a.ts#L10-L20`), with how interesting it is and why. */
export const Place = z.object({
  path: z.string().describe('Relative to the root, with forward slashes; a region ends #L<first>-L<last>.'),
  kind: z.enum(['directory', 'file', 'region']),
  weight: z
    .number()
    .min(0)
    .max(1)
    .describe('Degree of interest, 0 to 1. A directory has that of its most interesting part.'),
  why: z.array(z.string()).describe('The reasons for the weight, in plain words.'),
  signals: PlaceSignals,
  excerpt: z
    .string()
    .optional()
    .describe('The lines of the region, or the head of the file. Never of files that look like secrets.'),
  get children(): z.ZodArray<typeof Place> {
    return z.array(Place)
  },
})
export type Place = z.infer<typeof Place>

/** A memory as the work context shows it. */
export const ContextMemory = z.object({
  key: z.string(),
  namespace: z.string(),
  value: z.unknown().describe('The stored value; its first characters, as text, when `cut` is true.'),
  cut: z.boolean(),
  tags: z.array(z.string()),
  updated_at: z.string(),
})
export type ContextMemory = z.infer<typeof ContextMemory>

/** What a model needs to know before it starts: where the person has been, what has changed, what is remembered. */
export const WorkContext = z.object({
  root: z.string().describe('The absolute path that the places are relative to, links resolved.'),
  generated_at: z.string(),
  places: z.array(Place).describe('A tree, most interesting first.'),
  memories: z.array(ContextMemory),
  tokens: z.number().int().min(0).describe('Tokens of the text rendering (cl100k_base); never over max_tokens.'),
  truncated: z.boolean().describe('True when a place with weight, a memory, or part of the tree was left out.'),
  notes: z.array(z.string()).describe('What could not be read, in plain words; empty when all could.'),
})
export type WorkContext = z.infer<typeof WorkContext>
