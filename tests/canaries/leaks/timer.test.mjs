test('a timer that nobody clears', () => {
  setTimeout(() => undefined, 4_000);
});
