import { createInterface } from 'node:readline'
import { GazewayError } from '../../src/errors.ts'

/** Lines that came with the answer to an earlier question, as a pipe sends them. */
const waiting: string[] = []

/**
 * Asks a question on the terminal. `y` and `yes` mean yes.
 *
 * @throws GazewayError `config_invalid` when the input ends without an answer
 */
export async function ask(question: string): Promise<boolean> {
  const prompt = `${question} [y/N] `
  const given = waiting.shift()
  if (given !== undefined) process.stdout.write(`${prompt}\n`)
  return /^\s*y(es)?\s*$/i.test(given ?? (await nextLine(prompt)))
}

function nextLine(prompt: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  return new Promise((resolve, reject) => {
    let isAnswered = false
    lines.on('line', (line) => {
      if (isAnswered) return void waiting.push(line)
      isAnswered = true
      lines.close()
      resolve(line)
    })
    lines.on('close', () => {
      if (isAnswered) return
      process.stdout.write('\n')
      reject(
        new GazewayError('config_invalid', 'No answer, so nothing was changed; use --yes to write without asking.'),
      )
    })
    lines.setPrompt(prompt)
    lines.prompt()
    // The end of an input that has ended before is not told again.
    if (process.stdin.readableEnded) lines.close()
  })
}
