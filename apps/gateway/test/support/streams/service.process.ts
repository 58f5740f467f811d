import { apiV4Server } from '@rookery/api-v4';
import { boot } from '@rookery/platform';
import { answerQuestions } from './questions';
import { gate, seen, StreamsModule } from './streams.module';

answerQuestions({
  seen: () => seen,
  close: () => void (gate.opened = new Promise((resolve) => (gate.open = resolve))),
  open: () => gate.open(),
});
void boot({ name: 'package', settings: [], module: () => Promise.resolve(StreamsModule), http: apiV4Server });
