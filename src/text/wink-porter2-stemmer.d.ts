declare module 'wink-porter2-stemmer' {
  /** The stem of an English word in lower case (https://snowballstem.org/algorithms/english/stemmer.html). */
  export default function stem(word: string): string
}
