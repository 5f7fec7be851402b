import { whenCodeIsGone } from '../../src/lazily.ts'
import { runCommandLine } from './program.ts'

/** Runs the command line of this process, and ends it. */

/** Timeout for writing the last output, in milliseconds. */
const FLUSH_MS = 2000

// A client or a supervisor starts it again. A command without a listener for the signal prints the error and ends.
whenCodeIsGone((error) => {
  process.exitCode = 1
  if (process.emit('SIGTERM', 'SIGTERM')) process.stderr.write(`gazeway: ${error.message}\n`)
})
let isReported = false
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  // The reader may stop early (`gazeway doctor | head -1`) and does not need the rest. A full disk fails each write.
  if (code === 'EPIPE' || code === 'ECONNRESET' || isReported) return
  isReported = true
  process.stderr.write(`gazeway: The output could not be written (${code}).\n`)
  process.exitCode = 1
})
// Writing to a closed terminal fails. Work in progress is still finished.
process.stderr.on('error', () => {})
await runCommandLine(process.argv.slice(2))
// Exiting drops output that the reader has not taken yet. The timeout is for a reader that has stopped reading.
const flushed = new Promise((resolve) => process.stdout.write('', resolve))
await Promise.race([flushed, new Promise((resolve) => setTimeout(resolve, FLUSH_MS))])
// Open handles, such as a kept-alive connection or a timer, must not keep a stopped server alive.
process.exit()
