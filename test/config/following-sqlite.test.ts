import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { followingContract } from './following.ts'
import { startInstance } from './instance.ts'

const SETTER = fileURLToPath(new URL('setter.ts', import.meta.url))

followingContract('two processes on one data folder', async (provider) => {
  const watched = await startInstance({ document: { upstream: { provider } } })
  return {
    watched,
    async change(changes) {
      const args = ['--import', 'tsx', SETTER, watched.folder, JSON.stringify(changes)]
      await promisify(execFile)(process.execPath, args)
    },
    close: watched.close,
  }
})
