/**
 * Preload (`node --expose-gc --import`) that collects all garbage at SIGUSR2, and then says on stderr what the process still
 * holds: `MEMORY {…}`, in bytes.
 */
process.on('SIGUSR2', async () => {
  // What finalizers of the first collection let go is collected by the second.
  for (let i = 0; i < 2; i++) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  process.stderr.write(`MEMORY ${JSON.stringify(process.memoryUsage())}\n`)
})
