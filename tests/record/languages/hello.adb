with Ada.Text_IO; use Ada.Text_IO;
procedure Hello is
   package Numbers is
      function Fib (N : Integer) return Integer;
   end Numbers;
   package body Numbers is
      function Fib (N : Integer) return Integer is
      begin
         if N < 2 then
            return N;
         end if;
         return Fib (N - 1) + Fib (N - 2);
      end Fib;
   end Numbers;
   task type Worker;
   Sums : array (1 .. 4) of Integer := (others => 0);
   protected Places is
      procedure Take (Place : out Integer);
   private
      Taken : Integer := 0;
   end Places;
   protected body Places is
      procedure Take (Place : out Integer) is
      begin
         Taken := Taken + 1;
         Place := Taken;
      end Take;
   end Places;
   task body Worker is
      Place : Integer;
   begin
      Places.Take (Place);
      Sums (Place) := Numbers.Fib (10);
   end Worker;
begin
   declare
      Workers : array (1 .. 4) of Worker;
   begin
      null;
   end;
   Put_Line (Integer'Image (Numbers.Fib (15) + Sums (1) + Sums (4)));
end Hello;
