import { isStoreUrl } from '../src/config/addresses.ts'
import type { LoadedConfig } from '../src/config/config.ts'
import { redactUrl } from '../src/config/redact.ts'
import { GazewayError } from '../src/errors.ts'
import { type CopyProgress, copyStore } from '../src/store/copy.ts'
import { openStore } from '../src/store/open.ts'

const BAR_WIDTH = 30
const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/**
 * Copies all records of the configured store into the one at `to` and prints what was copied on stdout. A terminal on
 * stderr sees a progress bar.
 *
 * @throws GazewayError `config_invalid` for an address that is no store, and whatever {@link copyStore} throws
 */
export async function copyTo(loaded: LoadedConfig, to: string): Promise<void> {
  if (!isStoreUrl(to))
    throw new GazewayError('config_invalid', '--to: not a store; accepted: sqlite:PATH or postgres://HOST/DATABASE.', {
      param: '--to',
    })
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  for (const signal of SIGNALS) process.on(signal, interrupt)
  const source = await openStore(loaded.storeUrl)
  try {
    const target = await openStore(to)
    try {
      const bar = process.stderr.isTTY ? drawBar : undefined
      const { tables, checks } = await copyStore(source, target, {
        signal: interrupted.signal,
        ...(bar && { onProgress: bar }),
      })
      if (bar) process.stderr.write('\n')
      const lines = [...Object.entries(tables), ...checks.map(({ name, figure }) => [name, figure])]
      process.stdout.write(lines.map(([name, figure]) => `${String(figure).padStart(12)}  ${name}\n`).join(''))
      process.stdout.write(`Copied ${redactUrl(loaded.storeUrl)} to ${redactUrl(to)}; counts and sums agree.\n`)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}

let drawn = ''

/** Redraws the bar where it has changed. */
function drawBar({ table, copied, total }: CopyProgress): void {
  const share = total === 0 ? 1 : copied / total
  const filled = Math.round(share * BAR_WIDTH)
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${Math.floor(share * 100)} %  ${table}`
  if (bar === drawn) return
  drawn = bar
  process.stderr.write(`\r\u001b[2K${bar}`)
}
