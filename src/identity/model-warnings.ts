import { matchesGlob } from '../text/glob.ts'

/**
 * Warns about globs that match no known model: a typing error, or meant for future models.
 *
 * @param known ids of known models
 */
export const modelWarnings = (globs: readonly string[], known: readonly string[]): string[] =>
  globs
    .filter((glob) => !known.some((id) => matchesGlob(glob, id)))
    .map(
      (glob) =>
        `models: ${JSON.stringify(glob)} matches no known model; GET /v1/models lists the models of the upstream.`,
    )
