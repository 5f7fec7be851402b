import type * as z from 'zod'
import type { Keep } from '../src/idempotency/idempotency.ts'
import type { ToolContext } from './tool.ts'

/** A tool to run, or the part of it that works without the store. */
interface Runnable<Services, Input, Output extends z.ZodType> {
  output: Output
  run: (
    services: Services,
    input: Input,
    context: ToolContext,
    keep?: Keep<z.input<Output>>,
  ) => Promise<z.input<Output>>
}

/**
 * Runs a tool for any adapter and checks its result against the tool's schema.
 *
 * @param input checked against the tool's schema, by `parseInput` or as the body or query of a route
 * @param keep stores the result for replays, in the transaction of the tool's effect
 * @throws GazewayError of the tool, unchanged
 */
export async function runTool<Services, Input, Output extends z.ZodType>(
  { run, output }: Runnable<Services, Input, Output>,
  services: Services,
  input: NoInfer<Input>,
  context: ToolContext,
  keep?: Keep<z.output<Output>>,
): Promise<z.output<Output>> {
  return output.parse(await run(services, input, context, keep && ((trx, made) => keep(trx, output.parse(made)))))
}
