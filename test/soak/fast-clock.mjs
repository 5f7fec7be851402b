/**
 * Preload (`node --import`) that lets the clock of a process pass `SOAK_CLOCK_SPEED` times as fast from `SOAK_CLOCK_FROM`
 * (milliseconds since 1970) on. Timers keep their pace, as they follow the monotonic clock.
 */
const [from, speed] = [Number(process.env.SOAK_CLOCK_FROM), Number(process.env.SOAK_CLOCK_SPEED)]
const RealDate = globalThis.Date
const now = () => Math.floor(from + (RealDate.now() - from) * speed)

globalThis.Date = class FastDate extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given))
  }
  static now() {
    return now()
  }
}
