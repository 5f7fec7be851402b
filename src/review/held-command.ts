/** Commands that a hook holds where nobody can tell what the policy names. */
export const USUALLY_HELD = ['git push', 'gh pr merge'] as const

/** Characters that end one command of a shell and begin another. Redirections end nothing that matters here. */
const ENDS = /[;|&(){}`$\n<>]/g

/**
 * Finds the held command that a line of shell runs. Its program may have a folder, and options with or without a value may
 * stand before the words that follow; quotes do not matter, so that `sh -c 'git -C .. push'` is found, too.
 *
 * What a line does not spell is not found: aliases, scripts, variables, other programs.
 *
 * @param names such as `git push`
 * @returns null where there is none
 */
export function heldCommand(line: string, names: readonly string[]): string | null {
  const words = line
    .replace(/["'\\]/g, '')
    .replace(ENDS, ' ; ')
    .split(/\s+/)
  const wanted = names.map((name) => ({ name, words: name.split(/\s+/).filter(Boolean) }))
  for (let at = 0; at < words.length; at++)
    for (const { name, words: own } of wanted)
      if (isProgram(words[at] as string, own[0]) && follows(words, at + 1, own)) return name
  return null
}

const isProgram = (word: string, name: string | undefined): boolean =>
  name !== undefined && word.slice(word.lastIndexOf('/') + 1).replace(/\.exe$/i, '') === name

/** Tells whether words follow their program in their order, with nothing between them but options and their values. */
function follows(words: readonly string[], from: number, [program, ...wanted]: readonly string[]): boolean {
  let next = 0
  for (let at = from; at < words.length && next < wanted.length; at++) {
    const word = words[at] as string
    if (word === wanted[next]) next++
    // From the program's own name on the line is looked at by itself.
    else if (isProgram(word, program) || !(word.startsWith('-') || words[at - 1]?.startsWith('-'))) return false
  }
  return next === wanted.length
}
