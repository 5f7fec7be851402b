import { existsSync } from 'node:fs'
import type { LoadedConfig } from '../../src/config/config.ts'
import { fromHome } from '../../src/config/environment.ts'
import { redactUrl } from '../../src/config/redact.ts'
import { GazewayError } from '../../src/errors.ts'
import { type CopyProgress, copyStore } from '../../src/store/copy.ts'
import { isStoreUrl } from '../../src/store/engine.ts'
import { requireUpToDate } from '../../src/store/existing-store.ts'
import { openStore } from '../../src/store/open-store.ts'
import { copySettings } from './copied-settings.ts'
import { STOP_SIGNALS } from './stop-signals.ts'

const BAR_WIDTH = 30

/**
 * Copies all records of the configured store into the store at `to`. Prints the counts on stdout, and the outcome for
 * the settings on stderr. Draws a progress bar when stderr is a terminal.
 *
 * @throws GazewayError `config_invalid` for an address that is not a store's, `store_unavailable` when there is no
 *   store to copy, `conflict` for a store of an earlier version, and as {@link copyStore} and {@link copySettings}
 */
export async function copyTo(loaded: LoadedConfig, to: string): Promise<void> {
  if (!isStoreUrl(to))
    throw new GazewayError(
      'config_invalid',
      '--to: not a store URL; must be sqlite:PATH or postgres://HOST/DATABASE.',
      {
        param: '--to',
      },
    )
  requireSource(loaded.storeUrl)
  await requireUpToDate(loaded.storeUrl)
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  for (const signal of STOP_SIGNALS) process.on(signal, interrupt)
  const source = await openStore(loaded.storeUrl)
  try {
    const file = fromHome(to.replace(/^sqlite:/, ''))
    const target = await openStore(to.startsWith('sqlite:') ? `sqlite:${file}` : to)
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
      await copySettings(loaded, source, target, file)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
    for (const signal of STOP_SIGNALS) process.off(signal, interrupt)
  }
}

/** Checks that the source exists. Opening a store creates it, so a mistyped address would give an empty backup. */
function requireSource(url: string): void {
  const file = url.replace(/^sqlite:/, '')
  if (file === url || existsSync(file)) return
  throw new GazewayError('store_unavailable', `There is no store at ${file}. Name the source with --data or --store.`)
}

let drawn = ''

/** Draws the bar again if it has changed. */
function drawBar({ table, copied, total }: CopyProgress): void {
  const share = total === 0 ? 1 : copied / total
  const filled = Math.round(share * BAR_WIDTH)
  const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${Math.floor(share * 100)} %  ${table}`
  if (bar === drawn) return
  drawn = bar
  process.stderr.write(`\r\u001b[2K${bar}`)
}
