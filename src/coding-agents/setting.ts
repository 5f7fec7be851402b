import * as z from 'zod'

/** Names that lead to a setting, outermost first. */
const Path = z.array(z.string()).min(1)

/** A setting in an agent's file. */
export const Setting = z.strictObject({
  path: Path,
  value: z.unknown(),
  /** True for a value that is added to the list at the path. */
  isItem: z.boolean().default(false),
})
export type Setting = z.infer<typeof Setting>

/** A setting that was written, with what undoes it. */
export const WrittenSetting = Setting.extend({
  /** Value before; absent when there was none. */
  previous: z.unknown().optional(),
  /** Number of names of the path that existed before, from the outermost. */
  depth: z.int().min(0),
})
export type WrittenSetting = z.infer<typeof WrittenSetting>

/** A setting for a path of names. */
export const setting = (path: string, value: unknown): Setting => ({ path: path.split('.'), value, isItem: false })
