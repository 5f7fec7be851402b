declare module 'wink-porter2-stemmer' {
  /** Stem of a lower-case English word (https://snowballstem.org/algorithms/english/stemmer.html). */
  export default function stem(word: string): string
}
