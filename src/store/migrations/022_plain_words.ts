import type { Kysely } from 'kysely'
import { rewriteTexts } from './020_marks_in_words.ts'

/** Letters that words are written without since then, beside compatibility forms. */
const LETTERS = /[łøđßẞæœı]/i

/** Words are without compatibility forms and without letters that keyboards lack: texts that have some are indexed anew. */
export const up = (db: Kysely<unknown>): Promise<void> =>
  rewriteTexts(db, (text) => {
    const apart = text.normalize('NFKD')
    return LETTERS.test(apart) || apart !== text.normalize('NFD')
  })
