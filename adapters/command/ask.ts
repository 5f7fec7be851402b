import { createInterface } from 'node:readline'
import { GazewayError } from '../../src/errors.ts'

/**
 * Asks a question on the terminal. `y` and `yes` mean yes.
 *
 * @throws GazewayError `config_invalid` when the input ends without an answer
 */
export function ask(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  return new Promise((resolve, reject) => {
    let isAnswered = false
    lines.on('line', (line) => {
      isAnswered = true
      lines.close()
      resolve(/^\s*y(es)?\s*$/i.test(line))
    })
    lines.on('close', () => {
      if (isAnswered) return
      process.stdout.write('\n')
      reject(
        new GazewayError('config_invalid', 'No answer, so nothing was changed; use --yes to write without asking.'),
      )
    })
    lines.setPrompt(`${question} [y/N] `)
    lines.prompt()
  })
}
