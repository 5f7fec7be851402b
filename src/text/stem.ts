/// <reference path="./wink-porter2-stemmer.d.ts" />
import porter2 from 'wink-porter2-stemmer'

/** Words that the English stemmer takes. Longer ones are identifiers, not words of a language. */
const STEMMED = /^[a-z]{3,40}$/

/**
 * Stem that a folded word shares with its inflections (Porter2:
 * https://snowballstem.org/algorithms/english/stemmer.html). Words with digits or in other alphabets are returned
 * unchanged.
 *
 * @example stemOf('deployments') // 'deploy'
 */
export const stemOf = (word: string): string => (STEMMED.test(word) ? porter2(word) : word)
