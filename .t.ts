import { existsSync, mkdirSync, writeFileSync, readdirSync, readFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join, dirname } from 'node:path'
import { createAllowRoot } from './src/context/allowed-root.ts'
import { createContext } from './src/context/context.ts'
import { createTokenCounter } from './src/text/token-counter.ts'
const n = Number(process.argv[2]), size = Number(process.argv[3])
const root = `/tmp/ctx/large${n}`
if (!existsSync(root)) {
  const src = '/tmp/ctx/apt/src/redis-7.0.15/src'
  const all = Buffer.from(readdirSync(src).filter((f) => /\.[ch]$/.test(f)).map((f) => readFileSync(join(src, f), 'utf8')).join('\n'))
  for (let i = 0; i < n; i++) { const p = join(root, `part${i % 97}/area${i % 13}/file${i}.ts`); mkdirSync(dirname(p), { recursive: true }); const from = (i * size) % (all.length - size); writeFileSync(p, all.subarray(from, from + size)) }
  const git = (...a: string[]) => execFileSync('git', ['-C', root, '-c', 'gc.auto=0', ...a]); git('init', '-q'); git('add', '-A'); git('-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'x')
}
const countTokens = createTokenCounter(); await countTokens('x')
const { get } = createContext({ dwell: async () => [], memories: async () => [], onStoreFault: (e) => { throw e }, allowRoot: createAllowRoot({ configured: () => [], workingDirectory: () => '/', homeFolder: () => null }), countTokens, now: () => new Date(), dataFolder: '/tmp/ctx/data' })
for (let i = 0; i < 3; i++) { const c = process.cpuUsage(); const t = performance.now(); await get({ query: 'where is the connection of a client closed after a timeout' }, [root]); const u = process.cpuUsage(c); console.log((performance.now() - t).toFixed(), 'ms wall', ((u.user + u.system) / 1000).toFixed(), 'ms cpu') }
const t = performance.now(); execFileSync('git', ['-C', root, 'status', '--porcelain=v2', '-z', '--branch', '--untracked-files=all'], { stdio: 'pipe' }); console.log('git status', (performance.now() - t).toFixed())
process.exit()
