import type { ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import type { FollowedEyes } from './eyes-on-lines.ts'

/**
 * Switch for following the eyes, off by default. What it takes is loaded when it is turned on.
 *
 * @param props.place shows what follows the eyes; null once it is off
 */
export function useEyes(props: Omit<FollowedEyes, 'onOff'>) {
  const [Followed, setFollowed] = useState<ComponentType<FollowedEyes> | null>(null)
  const off = () => setFollowed(null)
  const on = async () => {
    const { Eyes } = await import('./eyes.tsx')
    setFollowed(() => Eyes)
  }
  return {
    isOn: Followed !== null,
    toggle: () => (Followed === null ? void on() : off()),
    shown: Followed && <Followed {...props} onOff={off} />,
  }
}
