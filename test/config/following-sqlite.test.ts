import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundledProgram } from '../doubles/bundled-program.ts'
import { followingContract } from './following.ts'
import { startInstance } from './instance.ts'

const SETTER = bundledProgram(fileURLToPath(new URL('setter.ts', import.meta.url)))

followingContract('two processes on one data folder', async (provider) => {
  const watched = await startInstance({ document: { upstream: { provider } } })
  return {
    watched,
    async change(changes) {
      await promisify(execFile)(process.execPath, [SETTER, watched.folder, JSON.stringify(changes)])
    },
    close: watched.close,
  }
})
