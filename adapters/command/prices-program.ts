import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'

const HELP = `
The price of a model is, in this order: that of the setting pricing.models; the newer of the preset's and the downloaded
catalogue's; that of the catalogue which is shipped. Nothing is downloaded without this command.

Examples:
  $ gazeway prices update                       from genai-prices (MIT), which others keep up to date
  $ gazeway prices update --from prices.json    from a file
  $ gazeway prices                              show what is in use`

/** Adds `gazeway prices` and `gazeway prices update`. */
export function addPriceCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig; log: Log }>): void {
  const prices = program
    .command('prices')
    .description('list the prices in force and their sources')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) => {
      const { loaded, log } = await start()
      await (await import('./prices.ts')).showPrices(loaded, log, flags)
    })
  prices
    .command('update')
    .description('store a newer catalogue of prices in the data folder, after checks')
    .option(
      '--from <url|file>',
      'data of genai-prices, or a catalogue of Gazeway; the newest data of genai-prices by default',
    )
    .option('--force', 'store prices that fall by more than 90 % or to 0')
    .addHelpText('after', HELP)
    .action(async (flags: { from?: string; force?: boolean }) => {
      const { loaded } = await start()
      await (await import('./update-prices.ts')).updatePrices(loaded, flags, new Date())
    })
}
