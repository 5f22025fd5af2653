// The event stream of one thread: reconnects with its cursor, tells what it does, ends when told.

import { api } from "./api.js";

const PAUSES = [500, 1000, 2000, 4000, 8000];

export class Stream {
  constructor(key, { onChunk, onOpen, onState }) {
    this.key = key;
    this.handlers = { onChunk, onOpen, onState };
    this.cursor = null;
    this.failures = 0;
    this.connect();
  }

  connect() {
    this.source = new EventSource(api.eventsUrl(this.key, this.cursor));
    this.source.onopen = () => {
      this.failures = 0;
      this.handlers.onState("live");
      this.handlers.onOpen();
    };
    this.source.onmessage = (event) => {
      this.cursor = event.lastEventId || this.cursor;
      this.handlers.onChunk(JSON.parse(event.data));
    };
    this.source.onerror = () => this.retry();
  }

  retry() {
    this.source.close();
    this.handlers.onState("lost");
    const pause = PAUSES[Math.min(this.failures, PAUSES.length - 1)];
    this.failures += 1;
    this.timer = setTimeout(() => this.connect(), pause);
  }

  close() {
    clearTimeout(this.timer);
    this.source.close();
  }
}
