import { matchesGlob } from '../text/glob.ts'

/**
 * Warns of globs that match no model, which may be a slip or be meant for models to come.
 *
 * @param known the ids that can be asked for, as far as that is known
 */
export const modelWarnings = (globs: readonly string[], known: readonly string[]): string[] =>
  globs
    .filter((glob) => !known.some((id) => matchesGlob(glob, id)))
    .map(
      (glob) =>
        `models: ${JSON.stringify(glob)} matches no model that is known here; GET /v1/models lists what the upstream has.`,
    )
