// The time that the animation shows and the plots mark, and the window of time that the plots show. Where the run spans
// decades, time goes by decades: the places of the slider and the speed are in powers of ten.

export class Clock {
  time: number;
  playing = false;
  speed = 1;
  view: { min: number; max: number };
  private last = 0;
  private onTime: (() => void)[] = [];
  private onView: (() => void)[] = [];
  private onState: (() => void)[] = [];

  constructor(
    readonly start: number,
    readonly end: number,
    readonly logarithmic = false,
  ) {
    this.time = start;
    this.view = { min: start, max: end };
  }

  timeChanged(listener: () => void): void {
    this.onTime.push(listener);
  }
  viewChanged(listener: () => void): void {
    this.onView.push(listener);
  }
  stateChanged(listener: () => void): void {
    this.onState.push(listener);
  }

  /** Where a time stands on the slider. */
  place(time: number): number {
    return this.logarithmic ? Math.log10(Math.max(time, this.start)) : time;
  }
  timeAt(place: number): number {
    return this.logarithmic ? Math.pow(10, place) : place;
  }
  /** From start to end, in the units of places. */
  get length(): number {
    return this.place(this.end) - this.place(this.start);
  }

  get zoomed(): boolean {
    return this.view.min > this.start || this.view.max < this.end;
  }

  seek(time: number): void {
    this.time = Math.min(this.end, Math.max(this.start, time));
    for (const listener of this.onTime) listener();
  }

  setView(min: number, max: number): void {
    const low = Math.max(this.start, Math.min(min, max));
    const high = Math.min(this.end, Math.max(min, max));
    if (!(high > low)) return;
    this.view = { min: low, max: high };
    for (const listener of this.onView) listener();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  pause(): void {
    this.playing = false;
    for (const listener of this.onState) listener();
  }

  play(): void {
    if (this.playing || !(this.end > this.start)) return;
    this.playing = true;
    this.last = performance.now();
    for (const listener of this.onState) listener();
    const tick = (now: number) => {
      if (!this.playing) return;
      // a page that was hidden for a while goes on from where it was
      const seconds = Math.min(0.1, Math.max(0, (now - this.last) / 1000));
      this.last = now;
      let next = this.timeAt(this.place(this.time) + seconds * this.speed);
      // plays what the plots show, again and again
      if (next >= this.view.max || next < this.view.min) next = this.view.min;
      this.seek(next);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }
}

/** 1 for runs of ordinary length, else the power of ten, times 1, 2 or 5, that plays the run in about ten seconds. */
export function usualSpeed(length: number): number {
  if (length >= 4 && length <= 120) return 1;
  const wish = length / 10;
  const power = Math.pow(10, Math.floor(Math.log10(wish)));
  const digit = wish / power;
  return (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10) * power;
}
