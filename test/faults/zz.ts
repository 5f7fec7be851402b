import { spawn } from 'node:child_process'
import { buildSync } from 'esbuild'
import { startPostgres } from '../contract/postgres-server.ts'
const server = await startPostgres()
const url = await server.database()
buildSync({ entryPoints: ['src/store/open.ts'], outdir: '/tmp/gzdist/open', bundle: true, splitting: true, format: 'esm', platform: 'node', minify: true, external: ['libsql', 'pino'], banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" } })
const sh = async (...args: string[]) => { const c = spawn('node', args, { env: { ...process.env, GAZEWAY_HOME: '/tmp/gzdist/home', GAZEWAY_UPSTREAM: 'sandbox' } }); let o=''; c.stdout.on('data', d=>o+=d); c.stderr.on('data', d=>o+=d); await new Promise(r=>c.on('close', r)); console.log('$', args.slice(2).join(' ').replace(/:[^:@]*@/,':***@'), '→', c.exitCode, '\n', o) }
await sh('-e', `import('/tmp/gzdist/open/open.js').then(async m => { const s = await m.openStore(process.argv[1]); console.log('bundle', await s.check(), s.engine); await s.close() })`, url)
const run = (...args: string[]) => sh('--import', 'tsx', 'adapters/cli.ts', ...args)
await run('key','create','--name','x')
await run('doctor','--store',url)
await run('store','copy','--to',url)
await run('store','copy','--to',url)
await run('store','copy','--to','mysql://x')
await run('store','copy')
await run('key','list','--store',url)
await server.remove()
