# A database syncs its file beside a copy on the same disk.
/stalling fsync /mnt/own > /tmp/kept/own.txt & program=$!
sh /recorder.sh --pid $program --over 500ms --out /tmp/kept & recorder=$!
sleep 5
dd if=/dev/zero of=/mnt/copy bs=1M count=100 &
wait $recorder
kill $program
