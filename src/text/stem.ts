/// <reference path="./wink-porter2-stemmer.d.ts" />
import porter2 from 'wink-porter2-stemmer'

/** Words that the English stemmer is for; names longer than that are no words of a language. */
const STEMMED = /^[a-z]{3,40}$/

/**
 * The stem of a folded word, which its inflections share (Porter2: https://snowballstem.org/algorithms/english/stemmer.html).
 * Words with digits or of other alphabets are their own.
 *
 * @example stemOf('deployments') // 'deploy'
 */
export const stemOf = (word: string): string => (STEMMED.test(word) ? porter2(word) : word)
