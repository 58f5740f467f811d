require('./changes-state.cjs');
